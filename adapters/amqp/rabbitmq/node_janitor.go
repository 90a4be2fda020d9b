//go:build unix

package rabbitmq

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// Janitor is a small process that cleans up after this one. It waits for the end of its standard input, which comes
// when this process closes it or ends in any way. It then kills a process group and removes a directory. So clean-up is
// the same after a normal end, a panic and a SIGKILL.
type Janitor struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// endNode is the janitor's shell script. It reads the number of a process group, if there is one, and waits for the end
// of input. Then it kills the group and removes the directory. It retries that, as a dying process can still write
// files.
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

// StartJanitor starts a janitor for the directory dir. The janitor has its own process group, so that an interrupt from
// the terminal does not reach it.
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

// Watch tells the janitor which process group to kill at the end. It may be called once.
func (j *Janitor) Watch(group int) error {
	_, err := fmt.Fprintln(j.stdin, group)
	return err
}

// End makes the janitor clean up now, and waits until it has.
func (j *Janitor) End() error {
	_ = j.stdin.Close()
	if err := j.cmd.Wait(); err != nil {
		return fmt.Errorf("cleaning up %s: %w", j.cmd.Args[len(j.cmd.Args)-1], err)
	}
	return nil
}
