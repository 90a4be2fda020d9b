//go:build unix

package rabbitmq

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// Janitor is a small process that outlives us for a moment. It waits for the end of its standard input, which comes when we
// end it or die for any reason, and then cleans up. So the same code cleans up after a good run, a panic and a SIGKILL.
type Janitor struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// endNode ends a process group and removes a directory. It reads the number of the group, if there is one, and then waits
// for the end of input. Since a process that is being killed can still write a file, removing is retried.
const endNode = `
trap '' HUP INT TERM
read -r group
cat >/dev/null
[ -z "$group" ] || kill -KILL -"$group"
for pause in 0.05 0.2 1 5; do
	rm -rf "$0" && exit
	sleep $pause
done
exit 1`

// StartJanitor starts the janitor of a node with directory dir. It has its own process group: a terminal's interrupt must
// not reach it.
func StartJanitor(dir string) (*Janitor, error) {
	cmd := exec.Command("/bin/sh", "-c", endNode, dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Janitor{cmd, stdin}, nil
}

// Watch tells the janitor which process group to end. It may be called once.
func (j *Janitor) Watch(group int) error {
	_, err := fmt.Fprintln(j.stdin, group)
	return err
}

// End makes the janitor clean up now, and waits for it.
func (j *Janitor) End() error {
	_ = j.stdin.Close()
	if err := j.cmd.Wait(); err != nil {
		return fmt.Errorf("cleaning up %s: %w", j.cmd.Args[len(j.cmd.Args)-1], err)
	}
	return nil
}
