package subprocess_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

func init() {
	roles["detaches"] = func() {
		child := exec.Command("sleep", "1000")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		child.Start()
		complain(fmt.Sprintf("child %d of %d", child.Process.Pid, os.Getpid()))
		obey(nil)
	}
	roles["parent of one that detaches"] = func() {
		s, said := starter("detaches"), make(chan []byte, 1)
		s.Stderr = relay(said)
		if _, err := s.Client("c1").Initialize(context.Background(), setup); err != nil {
			complain(err.Error())
			os.Exit(1)
		}
		os.Stderr.Write(<-said)
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
}

var childOf = regexp.MustCompile(`child (\d+) of`)

// TestDetached: a process that has left the group and the session of its program is killed, with a message, when the
// starter's last program has ended. A process of another starter is not killed.
func TestDetached(t *testing.T) {
	var said, others bytes.Buffer
	s, other := starter("detaches"), starter("detaches")
	s.Stderr, other.Stderr = &said, &others
	c, lasting := begin(t, s), begin(t, other)
	if _, err := c.Initialize(t.Context(), setup); err != nil {
		t.Fatal(err)
	}
	if _, err := lasting.Initialize(t.Context(), setup); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	child := childOf.FindStringSubmatch(said.String())
	if child == nil {
		t.Fatalf("it said %s", said.String())
	}
	gone(t, child[1])
	if want := "which had started them: " + child[1] + " (sleep)"; !strings.Contains(said.String(), want) {
		t.Errorf("said %q; expected %q", said.String(), want)
	}
	if err := lasting.Close(); err != nil {
		t.Error(err)
	}
	if n := len(childOf.FindAllString(others.String(), -1)); n != 1 || !strings.Contains(others.String(), "(sleep)") {
		t.Errorf("the other's was ended by us: %q", others.String())
	}
}

// TestDetachedDiesWithUs: a process that has left the group and the session of its program is also killed if the
// starter's own process is killed.
func TestDetachedDiesWithUs(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=parent of one that detaches")
	said, _ := cmd.CombinedOutput() // the error only says that the process was killed
	child := childOf.FindSubmatch(said)
	if child == nil {
		t.Fatalf("it said %s", said)
	}
	gone(t, string(child[1]))
}
