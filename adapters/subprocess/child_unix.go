//go:build unix

package subprocess

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// child is a running program: a shell's command line, in a process group of its own.
type child struct {
	group                 int
	stdin, stdout, stderr *os.File
	guard                 *exec.Cmd
	orders                io.WriteCloser // the guard's standard input
	ended                 chan struct{}  // closed when the process has ended, and its group with it
	how                   string         // its exit status or signal, once it has ended
}

// watchOver reads a group's number and then waits. A line ends it; where its input ends instead, we
// are dead, and so is the group then.
const watchOver = `trap '' HUP INT TERM
read -r group && { read -r line || kill -KILL -"$group"; }`

// startChild starts a command line.
func startChild(command, dir string, env []string) (*child, error) {
	c := &child{ended: make(chan struct{})}
	if err := c.watchOver(); err != nil {
		return nil, fmt.Errorf("starting a guard for it: %w", err)
	}
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	theirs, err := c.pipes(cmd)
	if err == nil {
		err = cmd.Start()
	}
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		c.release()
		return nil, err
	}
	c.group = cmd.Process.Pid
	_, _ = io.WriteString(c.orders, strconv.Itoa(c.group)+"\n") // a guard that is dead can't be told anything
	go c.wait(cmd)
	return c, nil
}

// watchOver starts the guard, in a group of its own: a terminal's interrupt is for us, not for it.
func (c *child) watchOver() (err error) {
	c.guard = exec.Command("/bin/sh", "-c", watchOver)
	c.guard.Dir = "/"
	c.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.orders, err = c.guard.StdinPipe(); err != nil {
		return err
	}
	return c.guard.Start()
}

// pipes makes the three pipes and returns the program's ends.
func (c *child) pipes(cmd *exec.Cmd) (theirs []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	var in, out, errs *os.File
	in, c.stdin = pipe()
	c.stdout, out = pipe()
	c.stderr, errs = pipe()
	for _, f := range []*os.File{in, out, errs} {
		if f != nil {
			theirs = append(theirs, f)
		}
	}
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	}
	return theirs, err
}

// drainLimit is how long is read on what a dead program has printed. Its pipes end at once, unless
// something that left its group still has them.
const drainLimit = time.Second

// wait waits until the process has ended and ends what is left of its group.
func (c *child) wait(cmd *exec.Cmd) {
	_ = cmd.Wait() // how it ended is in its state
	c.how = cmd.ProcessState.String()
	c.signal(syscall.SIGKILL)
	late := time.Now().Add(drainLimit)
	_ = c.stdout.SetReadDeadline(late)
	_ = c.stderr.SetReadDeadline(late)
	close(c.ended)
}

// signal sends a signal to the whole group. One that has ended needs none.
func (c *child) signal(s syscall.Signal) { _ = syscall.Kill(-c.group, s) }

func (c *child) kill()      { c.signal(syscall.SIGKILL) }
func (c *child) terminate() { c.signal(syscall.SIGTERM) }
func (c *child) pause()     { c.signal(syscall.SIGSTOP) }
func (c *child) resume()    { c.signal(syscall.SIGCONT) }

// endsWithin reports whether the process ends within that time.
func (c *child) endsWithin(d time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// release gives back the pipes and the guard of a process that has ended, or never began.
func (c *child) release() {
	for _, f := range []*os.File{c.stdin, c.stdout, c.stderr} {
		if f != nil {
			f.Close()
		}
	}
	_, _ = io.WriteString(c.orders, "0\ndone\n")
	_ = c.orders.Close()
	_ = c.guard.Wait()
}
