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

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

const serverLogLimit = 500 // characters; Erlang's can go on for pages

// bootFailure is how RabbitMQ says why it does not start: a sentence, or an Erlang term of many lines.
var bootFailure = regexp.MustCompile(`(?m)^(ERROR: .*|Error during startup: (?s:.*?)\n\n)`)

// serverLog picks from all that a server printed what is worth showing when it did not come up.
func serverLog(printed string) string {
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
