//go:build unix

package leftover

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lock locks an open file, and is false where another process, or another opening of the file, has it locked.
func lock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// provable says that a lock proves that its process lives.
const provable = true

// openFlags has a link or a pipe of somebody else's not be followed or waited for.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// mine reports whether a file or folder is our user's.
func mine(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
