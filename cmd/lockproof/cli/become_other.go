//go:build !unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// become runs a program with this process's command line, and then exits with the program's exit code. An interrupt
// reaches both processes.
func become(path string) error {
	cmd := exec.Command(path, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		os.Exit(ended.ExitCode())
	case err != nil:
		return fmt.Errorf("starting %s: %w", path, err)
	}
	os.Exit(exitHolds)
	return nil
}
