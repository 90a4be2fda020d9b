//go:build unix

package outfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// writable reports why an existing file cannot be written to. It does not open the file: the reader of a pipe would
// take the closing of the pipe for the end of the output.
func writable(path string) error { return unix.Access(path, unix.W_OK) }

// How long to wait until a pipe has a reader, and the interval between attempts.
const (
	readerLimit = 3 * time.Second
	readerLook  = 20 * time.Millisecond
)

// openPipe opens a named pipe for writing. If the pipe has no reader, it returns an error instead of waiting for one.
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
