//go:build unix

package rabbitmq

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// server is a running rabbitmq-server.
type server struct {
	process *os.Process
	ended   chan struct{} // closed when the process has ended
}

// startServer starts a program in a process group that exists.
func startServer(cmd *exec.Cmd, group int) (*server, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{process: cmd.Process, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended does not matter, only that it did
		close(s.ended)
	}()
	return s, nil
}

// end asks the server to end in good order, and waits until it has.
func (s *server) end() error {
	_ = s.process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
		return nil
	case <-time.After(nodeStopLimit):
		_ = s.process.Kill()
		<-s.ended
		return fmt.Errorf("it did not end within %s of being told to, and was killed", nodeStopLimit)
	}
}
