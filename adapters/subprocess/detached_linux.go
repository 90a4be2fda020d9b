package subprocess

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// endDetached kills the processes with a mark in their environment, whatever their group or session, and returns
// their names. The mark is random, so only processes started by clients have it.
func endDetached(mark string) (ended []string) {
	for range detachedRounds {
		found := endMarked(mark)
		if len(found) == 0 {
			break
		}
		ended = append(ended, found...) // the next round finds the processes that these have started meanwhile
	}
	return ended
}

// detachedRounds is the maximum number of rounds in which endDetached looks for processes.
const detachedRounds = 20

func endMarked(mark string) (ended []string) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, d := range all {
		if pid, err := strconv.Atoi(d.Name()); err == nil && pid != os.Getpid() && has(pid, mark) {
			if name, ok := end(pid, mark); ok {
				ended = append(ended, name)
			}
		}
	}
	return ended
}

// has reports whether a process has the mark in its environment.
func has(pid int, mark string) bool {
	environment, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && bytes.Contains(environment, []byte(mark))
}

// end kills process pid if it has the mark. It does not kill another process that has got the number meanwhile.
func end(pid int, mark string) (name string, ok bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return "", false
	}
	defer unix.Close(fd)
	if !has(pid, mark) {
		return "", false
	}
	said, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm")) // after an error, the name is ""
	if unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil {
		return "", false
	}
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1000)
	return fmt.Sprintf("%d (%s)", pid, strings.TrimSpace(string(said))), true
}
