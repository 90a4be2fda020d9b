//go:build unix

package rabbitmq

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
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

// ports are what a node listens on.
type ports struct{ amqp, dist, epmd int }

// Ports are taken from below those that the system gives to outgoing connections.
const (
	firstPort  = 20000
	portBlocks = 4000
)

var portBlock atomic.Int64

// freePorts finds ports that nothing listens on. A node opens its ports seconds after they were
// found free, so blocks of ports are dealt by process number: two test binaries that start nodes at
// the same moment do not choose the same.
func freePorts() (ports, error) {
	for range 100 {
		block := (os.Getpid() + 997*int(portBlock.Add(1))) % portBlocks
		p := firstPort + 3*block
		if isFree(p) && isFree(p+1) && isFree(p+2) {
			return ports{amqp: p, dist: p + 1, epmd: p + 2}, nil
		}
	}
	return ports{}, fmt.Errorf("finding ports on 127.0.0.1: none of a hundred choices between %d and %d is free", firstPort, firstPort+3*portBlocks)
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// awaitPort waits until something listens on a port.
func awaitPort(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, greetLimit)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", loopback(port))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-time.After(firstPause):
		case <-ctx.Done():
			return fmt.Errorf("waiting for epmd: %w", err)
		}
	}
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
