//go:build unix

package cli

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// become replaces this process by a program with the same command line. Signals then reach the program, and its exit
// code is that of the process.
func become(path string) error {
	err := unix.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ())
	return fmt.Errorf("starting %s: %w", path, err)
}
