// Package process runs servers of our own. Each has its own port on this machine and its files in a temporary folder, and
// ends when this process ends. If we are root, the server runs as a user that can only enter that folder.
package process
