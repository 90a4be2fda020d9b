//go:build unix

package subprocess

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// watchOver is a shell script that reads which process groups have begun and ended. When its input ends, this process
// is dead, and the script kills the groups that remain. On Linux it also kills processes that have left their group,
// which have a mark in their environment.
const watchOver = `trap '' HUP INT TERM
groups=' '
while read -r what group; do
	case $what in
	begun) groups="$groups$group " ;;
	ended) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
	over) exit ;;
	esac
done
for group in $groups; do kill -KILL -"$group"; done
for round in 1 2 3; do
	for process in $(grep -lF "$0" /proc/[0-9]*/environ 2>/dev/null); do
		process=${process#/proc/}
		kill -KILL "${process%/environ}"
	done
done`

// guard runs the script in a process, so that no program outlives this process, however this process dies. The
// guard's process exists only while there are programs.
type guard struct {
	mu     sync.Mutex
	groups map[int]bool
	cmd    *exec.Cmd // nil if the guard is not running
	orders io.WriteCloser
}

var guarded = guard{groups: make(map[int]bool)}

// begin registers a process group with the guard.
func (g *guard) begin(group int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups[group] = true
	return g.tell("begun", group)
}

// end removes a group that has ended. After the last group, the guard ends.
func (g *guard) end(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, group)
	if len(g.groups) == 0 {
		g.stop()
		return
	}
	_ = g.tell("ended", group) // after an error, the guard learns it with the next group
}

// tell sends the guard a message about a group. If the guard is not running, or was killed, it is started and told of
// all groups.
func (g *guard) tell(what string, group int) error {
	if g.cmd != nil {
		if _, err := fmt.Fprintln(g.orders, what, group); err == nil {
			return nil
		}
	}
	g.stop()
	if err := g.start(); err != nil {
		g.stop()
		return fmt.Errorf("starting a guard, which ends what was started when we die: %w", err)
	}
	return nil
}

// start starts the guard in its own group, so that an interrupt from the terminal does not end it.
func (g *guard) start() error {
	cmd := exec.Command("/bin/sh", "-c", watchOver, runMark)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	orders, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.cmd, g.orders = cmd, orders
	for group := range g.groups {
		if _, err := fmt.Fprintln(orders, "begun", group); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the guard's process, if there is one.
func (g *guard) stop() {
	if g.cmd == nil {
		return
	}
	_, _ = fmt.Fprintln(g.orders, "over") // so that the guard kills no group that is left
	_ = g.orders.Close()
	_ = g.cmd.Wait()
	g.cmd = nil
}
