//go:build unix

package outfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// writable reports why what stands at a path can't be written to. It is not opened: who reads from a pipe would take
// that for all.
func writable(path string) error { return unix.Access(path, unix.W_OK) }

// How long a pipe's reader may take to open it, and how often is looked.
const (
	readerLimit = 3 * time.Second
	readerLook  = 20 * time.Millisecond
)

// openPipe opens a named pipe. A pipe that nobody reads is an error: opening it would last until somebody does.
func openPipe(path string) (*os.File, error) {
	for late := time.Now().Add(readerLimit); ; time.Sleep(readerLook) {
		f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0)
		switch {
		case !errors.Is(err, unix.ENXIO):
			return f, err
		case time.Now().After(late):
			return nil, errors.New("it is a pipe, and nobody reads from it")
		}
	}
}
