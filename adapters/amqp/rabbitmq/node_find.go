package rabbitmq

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Programs are the paths of the programs of a private node: rabbitmq-server and the epmd of its Erlang.
type Programs struct {
	Server, Epmd string
	// Root is the root of the file system that contains the programs and their libraries; "" means this machine's.
	Root string
}

// installDirs are the folders in which packages install rabbitmq-server, as it is often not in PATH. The first is tried
// even before PATH: on Debian, the program in PATH is a wrapper that changes to the user rabbitmq and redirects the
// output.
var installDirs = []string{"/usr/lib/rabbitmq/bin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"}

// FindPrograms finds the RabbitMQ in a folder or, if folder is "", the installed one. The folder is that of RabbitMQ's
// archive for Unix, which uses the installed Erlang, or the root of a file system with RabbitMQ and Erlang installed.
func FindPrograms(folder string) (p Programs, err error) {
	if folder == "" {
		p.Server, err = findProgram("rabbitmq-server")
	} else {
		p, err = unpacked(folder)
	}
	if err != nil || p.Root != "" { // the programs in another root bring their own epmd
		return p, err
	}
	p.Epmd, err = findProgram("epmd")
	return p, err
}

// unpacked finds rabbitmq-server in a folder with RabbitMQ's archive for Unix, where it is in sbin.
func unpacked(folder string) (p Programs, err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return p, err
	}
	inRoot := Programs{Server: filepath.Join(installDirs[0], "rabbitmq-server"), Root: folder}
	if _, err := exec.LookPath(inRoot.Place()); err == nil {
		return inRoot, nil
	}
	for _, dir := range []string{"sbin", "bin", "."} {
		if path, err := exec.LookPath(filepath.Join(folder, dir, "rabbitmq-server")); err == nil {
			return Programs{Server: path}, nil
		}
	}
	return p, fmt.Errorf("%s has no rabbitmq-server: expected the folder of RabbitMQ's archive for Unix, with sbin/rabbitmq-server in it, "+
		"or the root of a file system, with %s in it", folder, strings.TrimPrefix(inRoot.Server, "/"))
}

// Place is the path of the server's program on this machine.
func (p Programs) Place() string { return filepath.Join(p.Root, p.Server) }

// inRoot is a shell script that runs program $3 in another root file system, $1. The folder $2 has the same path there.
// The mounts are in a private namespace and end with the program, so that nothing in that root changes.
const inRoot = `set -e
top=/$(echo "$2" | cut -d / -f 2)
mount --rbind /proc "$1/proc"
mount --rbind /dev "$1/dev"
exec 3<"$2"
mount -t tmpfs lockproof "$1$top"
mkdir -p "$1$2"
mount --no-canonicalize --bind /proc/self/fd/3 "$1$2"
exec 3<&-
exec chroot "$1" /bin/sh -c 'cd "$0" && exec "$1"' "$2" "$3"`

// command prepares to run a program for a node whose files are in folder.
func (p Programs) command(program, folder string) *exec.Cmd {
	if p.Root == "" {
		return exec.Command(program)
	}
	apart := []string{"--mount"}
	if os.Getuid() != 0 {
		apart = append(apart, "--map-root-user") // makes mounts possible for other users than root
	}
	return exec.Command("unshare", append(apart, "/bin/sh", "-c", inRoot, "sh", p.Root, folder, program)...)
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

// path is the value of PATH for the programs. It contains the folder of Erlang.
func (p Programs) path() string {
	if p.Root != "" {
		return strings.Join(append([]string{"/bin"}, installDirs[1:]...), ":")
	}
	return strings.Join(append([]string{os.Getenv("PATH"), filepath.Dir(p.Epmd)}, installDirs[1:]...), ":")
}
