//go:build unix

package rabbitmq

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// janitor is a small process that outlives us for a moment. It waits for the end of its standard input, which comes
// when we end it and also when we die of any cause, and then cleans up. The same few lines run after a good run, a
// panic and a SIGKILL.
type janitor struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// endNode ends a process group and removes a directory. It reads the group's number, if any comes, and then
// nothing until the end of input. A process that is being killed can still write a file, so removing is tried again.
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

// removeContainer removes a container, unless it is told that there is none any more. One that Docker was still making
// when we died appears later, so removing is tried again.
const removeContainer = `
trap '' HUP INT TERM
read -r gone
[ "$gone" = gone ] && exit
for pause in 1 5 30 60; do
	docker container inspect "$0" >/dev/null 2>&1 && docker rm --force --volumes "$0" >/dev/null 2>&1 && exit
	sleep $pause
done
exit 1`

// startJanitor starts a janitor that cleans up by a script, which is about a thing of that name. It has a process group
// of its own: a terminal's interrupt is for us, not for it.
func startJanitor(script, name string) (*janitor, error) {
	cmd := exec.Command("/bin/sh", "-c", script, name)
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

// watch tells the janitor of a node which process group to end. It can be told once.
func (j *janitor) watch(group int) error { return j.tell(strconv.Itoa(group)) }

// gone tells the janitor of a container that there is none any more, and waits until it has ended.
func (j *janitor) gone() error {
	if err := j.tell("gone"); err != nil {
		return err
	}
	return j.end()
}

func (j *janitor) tell(line string) error {
	_, err := io.WriteString(j.stdin, line+"\n")
	return err
}

// release has the janitor clean up, and waits for nothing.
func (j *janitor) release() {
	_ = j.stdin.Close()
	go func() { _ = j.cmd.Wait() }()
}

// end has the janitor clean up now, and waits until it has.
func (j *janitor) end() error {
	_ = j.stdin.Close()
	if err := j.cmd.Wait(); err != nil {
		return fmt.Errorf("cleaning up %s: %w", j.cmd.Args[len(j.cmd.Args)-1], err)
	}
	return nil
}
