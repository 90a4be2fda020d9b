//go:build unix

package cli

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// become has a program carry out our command line in our place: signals and exit codes are its own.
func become(path string) error {
	err := unix.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ())
	return fmt.Errorf("starting %s: %w", path, err)
}
