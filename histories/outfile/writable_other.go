//go:build !unix

package outfile

import "os"

// writable reports why an existing file cannot be written to. On this system only writing shows that, so it reports
// nothing.
func writable(string) error { return nil }

// openPipe opens a named pipe.
func openPipe(path string) (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }
