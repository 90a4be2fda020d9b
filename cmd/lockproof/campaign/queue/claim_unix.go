//go:build unix

package queue

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// claim takes a directory's lock file for this process. The system gives it back when the process ends, however it does.
func claim(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s is in use: the campaign is running already; wait for it, or name another directory", filepath.Dir(path))
	}
	return func() { f.Close() }, nil
}
