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

// lock locks an open file. It returns false if the file is locked by another process, or through another open file of
// this process.
func lock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// provable says that a locked file proves that its process is alive.
const provable = true

// openFlags make opening fail at a link, and not wait for the writer of a pipe.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// mine reports whether a file or folder belongs to this user.
func mine(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// hold locks a file until release is called. The lock remains if the file is closed before that.
func hold(f *os.File) (release func(), err error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) { // another run is about to delete the file
		err = os.ErrNotExist
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return func() { _ = unix.Close(fd) }, nil
}

// enterLimit is how long to wait for another run's lock on a folder. A stopped process thus does not block this one.
const enterLimit = 5 * time.Second

// enter opens a folder and waits until it has locked the folder.
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
