//go:build unix

package subprocess

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// plain matches a command line that is only a program and its arguments.
var plain = regexp.MustCompile(`^[\w@%+:,./-]+( +[\w@%+:,./=-]+)*$`)

// commandOf is the command for a command line: the program itself if a shell would only start it, otherwise a shell.
// Starting a shell takes a third as long as starting a Go program.
func commandOf(line, dir string) *exec.Cmd {
	if !plain.MatchString(line) {
		return shellFor(line)
	}
	words := strings.Fields(line)
	at := words[0]
	if strings.Contains(at, "/") && !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	path, err := exec.LookPath(at)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil { // built into the shell, or the shell reports that it is missing
		return shellFor(line)
	}
	return &exec.Cmd{Path: path, Args: words}
}

// shellFor is a shell that runs a command line.
func shellFor(line string) *exec.Cmd { return exec.Command("/bin/sh", "-c", line) }
