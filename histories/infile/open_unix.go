//go:build unix

package infile

import (
	"os"

	"golang.org/x/sys/unix"
)

// open opens a file without blocking. If the path has become a pipe, it does not wait for a writer.
func open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) }
