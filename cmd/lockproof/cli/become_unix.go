//go:build unix

package cli

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// become replaces this process by a program with our command line: signals and exit codes are the program's.
func become(path string) error {
	err := unix.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ())
	return fmt.Errorf("starting %s: %w", path, err)
}
