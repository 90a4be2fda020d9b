//go:build unix

package subprocess

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// child is a running program with its own process group. It was started by a command line, or forked by a template.
type child struct {
	group                 int
	stdin, stdout, stderr stream
	ended                 chan struct{} // closed when the process and its group have ended
	how                   string        // exit status or signal; valid once ended is closed
	over                  func()        // called when release has closed the pipes
}

// startChild starts a program by a command line, in the folder dir.
func startChild(command, dir string, env []string) (*child, error) {
	c := &child{ended: make(chan struct{})}
	cmd, err := c.start(commandOf(command, dir), dir, env)
	if errors.Is(err, syscall.ENOEXEC) { // a script without a line that names its interpreter
		cmd, err = c.start(shellFor(command), dir, env)
	}
	if err != nil {
		return nil, err
	}
	err = c.begin(cmd.Process.Pid, func() string {
		_ = cmd.Wait() // the process state says how it ended
		return cmd.ProcessState.String()
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// begin registers the group of a running process with the guard, which ends the group if this process dies. The
// function wait waits until the running process ends, and returns its exit status or signal.
func (c *child) begin(group int, wait func() string) error {
	c.group = group
	err := guarded.begin(group)
	go c.wait(wait)
	if err != nil {
		c.kill()
		<-c.ended
		c.release()
	}
	return err
}

// start starts the program in its own process group.
func (c *child) start(cmd *exec.Cmd, dir string, env []string) (*exec.Cmd, error) {
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
	}
	return cmd, err
}

// pipes makes the three pipes, and returns the program's ends of them.
func (c *child) pipes(cmd *exec.Cmd) (theirs []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	in, stdin := pipe()
	stdout, out := pipe()
	stderr, errs := pipe()
	c.stdin, c.stdout, c.stderr = stdin, stdout, stderr
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

// drainLimit is how long the output of a dead program is still read. Usually its pipes end at once. A process that
// has left the group may keep them open.
const drainLimit = 5 * time.Second

// wait waits until the process has ended, and kills the rest of its group.
func (c *child) wait(until func() string) {
	c.how = until()
	c.signal(syscall.SIGKILL)
	guarded.end(c.group)
	late := time.Now().Add(drainLimit)
	_ = c.stdout.SetReadDeadline(late)
	_ = c.stderr.SetReadDeadline(late)
	close(c.ended)
}

// signal sends a signal to the whole group. An error means that the group has ended, and is ignored.
func (c *child) signal(s syscall.Signal) { _ = syscall.Kill(-c.group, s) }

func (c *child) kill()      { c.signal(syscall.SIGKILL) }
func (c *child) terminate() { c.signal(syscall.SIGTERM) }
func (c *child) pause()     { c.signal(syscall.SIGSTOP) }
func (c *child) resume()    { c.signal(syscall.SIGCONT) }

// endsWithin reports whether the process ends within d.
func (c *child) endsWithin(d time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// release closes the pipes of a process that has ended or was never started.
func (c *child) release() {
	for _, f := range []stream{c.stdin, c.stdout, c.stderr} {
		_ = f.Close() // does nothing for a pipe that could not be made
	}
	if c.over != nil {
		c.over()
	}
}
