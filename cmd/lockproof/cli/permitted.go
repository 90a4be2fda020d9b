package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/secret"
)

// permitOnce asks on a terminal before a program that a file of flags names is run for the first time, and remembers the
// answer yes. Elsewhere nobody can be asked: whoever runs a project's commands in CI runs its programs anyway.
func permitOnce(c *cobra.Command, file, command string) error {
	if !interactive() || permitted(file, command) {
		return nil
	}
	yes, err := ask(c.Context(), os.Stdin, c.ErrOrStderr(), fmt.Sprintf("%s names a program:\n\n    %s\n\nRun it, now and later? [y/N] ", safetext.Escape(file), safetext.Escape(secret.Command(command))))
	switch {
	case err != nil:
		return err
	case !yes:
		return errors.New("exec: the program was not run")
	}
	return permitLater(file, command)
}

// permission is the file that remembers that a program of a file of flags may be run. Another place of the file and another
// command have another one.
func permission(file, command string) (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	at, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(at + "\x00" + command))
	return filepath.Join(dir, "lockproof", "permitted", hex.EncodeToString(sum[:])), nil
}

func permitted(file, command string) bool {
	path, err := permission(file, command)
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	return err == nil
}

// permitLater remembers that the program may be run. Where that can't be written, the next run asks again.
func permitLater(file, command string) error {
	path, err := permission(file, command)
	if err != nil {
		return nil
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = os.WriteFile(path, nil, 0o600)
	}
	return nil
}
