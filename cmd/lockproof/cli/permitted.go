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

// permitOnce asks the user, on a terminal, before a program that a file names runs for the first time. It remembers the
// answer yes. Without a terminal it returns an error that says what to type instead.
func permitOnce(c *cobra.Command, file, command, typed string) error {
	if permitted(file, command) {
		return nil
	}
	shown := safetext.Escape(secret.Command(command))
	if !interactive() {
		return fmt.Errorf("the program that it names is not run unless you say so: %s; if you trust it, type: %s", shown, typed)
	}
	yes, err := ask(c.Context(), os.Stdin, c.ErrOrStderr(), fmt.Sprintf("%s names a program:\n\n    %s\n\nRun it, now and later? [y/N] ", safetext.Escape(file), shown))
	switch {
	case err != nil:
		return err
	case !yes:
		return errors.New("exec: the program was not run")
	}
	permitLater(file, command)
	return nil
}

// permission returns the path of the file that remembers a permission to run a program. The path depends on the file of
// flags and on the command.
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

// permitLater remembers the permission to run a program. If it cannot be stored, the next run asks again.
func permitLater(file, command string) {
	path, err := permission(file, command)
	if err != nil {
		return
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = os.WriteFile(path, nil, 0o600)
	}
}
