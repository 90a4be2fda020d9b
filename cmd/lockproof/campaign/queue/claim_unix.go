//go:build unix

package queue

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/lockproof/lockproof/histories/outfile"
)

// claim locks a folder for this process by its lock file. The system releases the lock when the process ends, also
// after a crash.
func claim(at outfile.Place) (release func(), err error) {
	f, err := at.Open(os.O_CREATE | os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s is in use: the campaign is running already; wait for it, or name another directory", filepath.Dir(at.Path))
	}
	return func() { f.Close() }, nil
}
