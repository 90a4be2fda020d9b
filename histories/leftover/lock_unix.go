//go:build unix

package leftover

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

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

// openFlags do not follow a link, and do not wait for a pipe.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// mine reports whether a file or folder is our user's.
func mine(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// hold locks a file until release is called, also when it is closed earlier.
func hold(f *os.File) (release func(), err error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) { // another process is about to remove it
		err = os.ErrNotExist
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return func() { _ = unix.Close(fd) }, nil
}

// enterLimit is how long a folder may be locked by another run: one that is stopped meanwhile is not waited for.
const enterLimit = 5 * time.Second

// enter opens a folder and waits until this process has it locked.
func enter(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	for late := time.Now().Add(enterLimit); ; time.Sleep(time.Millisecond) {
		ok, err := lock(f)
		if ok {
			return f, nil
		}
		if err == nil && time.Now().After(late) {
			err = fmt.Errorf("%s is locked by another run", path)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
}
