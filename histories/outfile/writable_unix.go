//go:build unix

package outfile

import "golang.org/x/sys/unix"

// writable reports why what stands at a path can't be written to. It is not opened: who reads from a pipe would take
// that for all.
func writable(path string) error { return unix.Access(path, unix.W_OK) }
