// Package process runs servers of our own. Each has a port of its own on this machine and its files in a temporary folder, and ends
// with us. Where we are root, it runs as a user of its own, which can enter that folder alone.
package process
