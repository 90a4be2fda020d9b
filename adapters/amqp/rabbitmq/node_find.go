//go:build unix

package rabbitmq

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are what a private node is made of.
type programs struct{ server, epmd string }

// installDirs are where packages put the programs, besides PATH: administrators' programs are often
// not on it. The first comes before PATH, too: on Debian, what is on PATH is a wrapper that changes
// to the user rabbitmq and puts its output elsewhere.
var installDirs = []string{"/usr/lib/rabbitmq/bin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"}

// findPrograms looks for an installed RabbitMQ.
func findPrograms() (p programs, err error) {
	if p.server, err = findProgram("rabbitmq-server"); err != nil {
		return p, err
	}
	p.epmd, err = findProgram("epmd")
	return p, err
}

// installed reports whether a node can be started.
func installed() bool {
	_, err := findPrograms()
	return err == nil
}

func findProgram(name string) (string, error) {
	dirs := append([]string{installDirs[0]}, filepath.SplitList(os.Getenv("PATH"))...)
	dirs = append(dirs, installDirs[1:]...)
	for _, dir := range dirs {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", missing(name + " is not installed: it is neither on PATH nor in " + strings.Join(installDirs, ", "))
}

// path is the PATH that the programs themselves need, to find Erlang.
func (p programs) path() string {
	return strings.Join(append([]string{os.Getenv("PATH"), filepath.Dir(p.epmd)}, installDirs[1:]...), ":")
}
