// Package process runs servers that lockproof starts itself. Each has its own port on this machine and its files in a
// temporary folder. It ends when this process ends. If this process runs as root, the server runs as a user that can
// only enter that folder.
package process
