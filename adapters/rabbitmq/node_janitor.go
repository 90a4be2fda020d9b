//go:build unix

package rabbitmq

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// janitor is a small process that outlives us for a moment: it waits until its standard input ends,
// which happens when we dismiss it and also when we die, of whatever cause, and then ends a process
// group and removes a directory. That the same few lines clean up after a good run, a panic and a
// SIGKILL is why they can be relied on.
type janitor struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// cleanUp reads the process group's number, if any comes, and then nothing until the end of input.
// A process that is being killed can still write a file, so removing is tried again.
const cleanUp = `
trap '' HUP INT TERM
read -r group
cat >/dev/null
[ -z "$group" ] || kill -KILL -"$group"
for pause in 0.05 0.2 1 5; do
	rm -rf "$0" && exit
	sleep $pause
done
exit 1`

// startJanitor starts the janitor of a directory, in a process group of its own: a terminal's interrupt is
// for us, not for it.
func startJanitor(dir string) (*janitor, error) {
	cmd := exec.Command("/bin/sh", "-c", cleanUp, dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &janitor{cmd, stdin}, nil
}

// watch tells the janitor which process group to end. It can be told once.
func (j *janitor) watch(group int) error {
	_, err := io.WriteString(j.stdin, strconv.Itoa(group)+"\n")
	return err
}

// dismiss has the janitor clean up now, and waits until it has.
func (j *janitor) dismiss() error {
	_ = j.stdin.Close()
	if err := j.cmd.Wait(); err != nil {
		return fmt.Errorf("cleaning up %s: %w", j.cmd.Args[len(j.cmd.Args)-1], err)
	}
	return nil
}
