//go:build !unix

package outfile

import "os"

// writable reports why the existing file cannot be written to; on this system that is unknown before it is tried.
func writable(string) error { return nil }

// openPipe opens a named pipe.
func openPipe(path string) (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }
