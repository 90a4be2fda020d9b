package rabbitmq

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Programs are what a private node is made of: rabbitmq-server, and the epmd beside its Erlang.
type Programs struct{ Server, Epmd string }

// installDirs are where packages put the programs, besides PATH: administrators' programs are often
// not on it. The first comes before PATH, too: on Debian, what is on PATH is a wrapper that changes
// to the user rabbitmq and puts its output elsewhere.
var installDirs = []string{"/usr/lib/rabbitmq/bin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"}

// FindPrograms finds the RabbitMQ that is unpacked in a folder, or the installed one where the folder is "". Erlang is the
// installed one.
func FindPrograms(folder string) (p Programs, err error) {
	if folder == "" {
		p.Server, err = findProgram("rabbitmq-server")
	} else {
		p.Server, err = unpacked(folder)
	}
	if err != nil {
		return p, err
	}
	p.Epmd, err = findProgram("epmd")
	return p, err
}

// unpacked is the rabbitmq-server in a folder: that of the archive for Unix is in sbin.
func unpacked(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	for _, dir := range []string{"sbin", "bin", "."} {
		if path, err := exec.LookPath(filepath.Join(folder, dir, "rabbitmq-server")); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s has no rabbitmq-server: expected the folder of RabbitMQ's archive for Unix, with sbin/rabbitmq-server in it", folder)
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
func (p Programs) path() string {
	return strings.Join(append([]string{os.Getenv("PATH"), filepath.Dir(p.Epmd)}, installDirs[1:]...), ":")
}
