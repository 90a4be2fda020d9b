//go:build unix

package subprocess

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// plain matches a command line that contains only a program and its arguments, without anything that the shell
// interprets.
var plain = regexp.MustCompile(`^[\w@%+:,./-]+( +[\w@%+:,./=-]+)*$`)

// commandOf returns the command for a command line. It is the program itself if a shell would only start it,
// otherwise a shell. Starting a shell takes a third as long as starting a Go program.
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
	if err != nil { // the command is built into the shell, or the shell will report that it is missing
		return shellFor(line)
	}
	return &exec.Cmd{Path: path, Args: words}
}

// shellFor returns a shell that runs a command line.
func shellFor(line string) *exec.Cmd { return exec.Command("/bin/sh", "-c", line) }
