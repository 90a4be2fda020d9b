package subprocess

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/lockproof/lockproof/histories/leftover"
)

// canFork is true: this system can identify the process at the other end of a socket, and tell when it ends.
const canFork = true

// sockets is the socket to which a forked process connects its standard input, output and error.
type sockets struct {
	folder   *leftover.Folder
	path     string
	listener *net.UnixListener
}

// listen makes the socket, in a directory that other users cannot enter.
func listen() (*sockets, error) {
	folder, err := leftover.NewFolder("fork")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder.Path, "fork")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, errors.Join(err, folder.Remove())
	}
	return &sockets{folder, path, listener}, nil
}

// end closes the socket, and removes its directory.
func (s *sockets) end() {
	_ = s.listener.Close()
	_ = s.folder.Remove() // after an error, the next run removes the directory
}

// accept waits for a process that connects twice: first for its standard input and output, then for its standard
// error.
func (s *sockets) accept(ctx context.Context) (*child, error) {
	deadline, _ := ctx.Deadline()
	if err := s.listener.SetDeadline(deadline); err != nil {
		return nil, err
	}
	first, err := s.listener.AcceptUnix()
	if err != nil {
		return nil, fmt.Errorf("%w: expected the forked process to connect to the socket for its standard input and output", err)
	}
	second, err := s.listener.AcceptUnix()
	if err != nil {
		_ = first.Close()
		return nil, fmt.Errorf("%w: expected the forked process to connect to the socket once more, for its standard error", err)
	}
	c := &child{stdin: inputOf{first}, stdout: first, stderr: second, ended: make(chan struct{})}
	if err := c.adopt(first, second); err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

// adopt makes the process at the other ends of the connections a child with its own group.
func (c *child) adopt(ends ...*net.UnixConn) error {
	group := 0
	for _, end := range ends {
		pid, err := peer(end)
		switch {
		case err != nil:
			return fmt.Errorf("which process has connected: %w", err)
		case pid == 0 || group != 0 && pid != group:
			return errors.New("more than one process has connected, or one that is not seen from here: expected the forked one, twice")
		}
		group = pid
	}
	if leads, err := unix.Getpgid(group); err != nil || leads != group {
		return fmt.Errorf("process %d has forked and is in process group %d: expected it to lead one of its own, by setpgid(0, 0) before it connects", group, leads)
	}
	pidfd, err := unix.PidfdOpen(group, 0)
	if err != nil {
		return fmt.Errorf("watching process %d: %w", group, err)
	}
	return c.begin(group, func() string {
		defer unix.Close(pidfd)
		for {
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1); err != unix.EINTR {
				return "it ended (how it did is not known of a process that was forked)"
			}
		}
	})
}

// peer returns the number of the process at the other end of a connection; 0 if that process is not visible from
// here.
func peer(end *net.UnixConn) (pid int, err error) {
	raw, err := end.SyscallConn()
	if err != nil {
		return 0, err
	}
	var theirs *unix.Ucred
	if e := raw.Control(func(fd uintptr) { theirs, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		return 0, e
	}
	if err != nil {
		return 0, err
	}
	return int(theirs.Pid), nil
}

// inputOf is the direction of a socket that a process uses as its standard input.
type inputOf struct{ *net.UnixConn }

// Close closes the input of the process, and leaves its output open.
func (c inputOf) Close() error { return c.CloseWrite() }
