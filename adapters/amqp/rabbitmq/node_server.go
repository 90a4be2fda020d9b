//go:build unix

package rabbitmq

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Server is a running rabbitmq-server. Ended is closed when its process has ended.
type Server struct {
	Ended   chan struct{}
	process *os.Process
}

// StartServer starts a server in an existing process group.
func StartServer(cmd *exec.Cmd, group int) (*Server, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &Server{process: cmd.Process, Ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the exit status does not matter
		close(s.Ended)
	}()
	return s, nil
}

// Signal sends a signal to the server, unless it has ended.
func (s *Server) Signal(signal os.Signal) error { return s.process.Signal(signal) }

// End sends the server a signal to shut down in good order, and waits until it has ended.
func (s *Server) End() error {
	_ = s.process.Signal(syscall.SIGTERM)
	select {
	case <-s.Ended:
		return nil
	case <-time.After(nodeStopLimit):
		_ = s.process.Kill()
		<-s.Ended
		return fmt.Errorf("it did not end within %s of being told to, and was killed", nodeStopLimit)
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

const serverLogLimit = 500 // maximum number of characters that ServerLog returns; Erlang's output can be pages long

// bootFailure matches RabbitMQ's reason for a failed start: one line, or an Erlang term of many lines.
var bootFailure = regexp.MustCompile(`(?m)^(ERROR: .*|Error during startup: (?s:.*?)\n\n)`)

// ServerLog is the part of a failed server's output that is worth showing.
func ServerLog(printed string) string {
	said := oneLine(bootFailure.FindString(printed))
	if said == "" {
		lines := strings.Split(strings.TrimSpace(printed), "\n")
		said = oneLine(lines[len(lines)-1])
	}
	if said == "" {
		return "nothing"
	}
	return said[:min(len(said), serverLogLimit)]
}
