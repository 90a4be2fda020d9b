// Package natstest starts NATS servers with JetStream for tests. If nats-server is not installed, the tests are
// skipped.
//
// With LOCKPROOF_REQUIRE_NATS=1 in the environment, a test that would be skipped fails instead.
package natstest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// EnvRequire names an environment variable. If it is 1, a test fails if the server is missing; otherwise it is
// skipped.
const EnvRequire = "LOCKPROOF_REQUIRE_NATS"

// Server is a nats-server on a port of its own, with its files in a directory of its own.
type Server struct {
	URL string

	t       testing.TB
	program string
	args    []string
	address string
	process *exec.Cmd
}

const startLimit = 20 * time.Second

// Start starts a server, which is stopped at the end of the test. configuration replaces the usual configuration,
// which only enables JetStream; "" keeps it.
func Start(t testing.TB, configuration string) *Server {
	t.Helper()
	program, err := find()
	if err != nil {
		if os.Getenv(EnvRequire) == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	address, err := free()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("listen: %q\njetstream: {store_dir: %q}\n", "127.0.0.1:"+port, dir)
	if configuration != "" {
		text = fmt.Sprintf("listen: %q\n%s\n", "127.0.0.1:"+port, configuration)
	}
	path := filepath.Join(dir, "server.conf")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "nats://" + address, t: t, program: program, args: []string{"-c", path, "-l", filepath.Join(dir, "log")}, address: address}
	t.Cleanup(s.Kill)
	s.Resume()
	return s
}

// find returns the path of nats-server: on the PATH, or where Debian's package installs it.
func find() (string, error) {
	for _, name := range []string{"nats-server", "/usr/sbin/nats-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("NOT TESTED: nats-server is missing: install it, such as with apt-get install nats-server")
}

// free returns an address of this machine on which nothing listens.
func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Kill kills the server, without a clean shutdown.
func (s *Server) Kill() {
	if s.process != nil {
		s.process.Process.Kill()
		s.process.Wait()
		s.process = nil
	}
}

// Resume starts the killed server again, at the same address and with the same files.
func (s *Server) Resume() {
	s.t.Helper()
	s.process = exec.Command(s.program, s.args...)
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", s.address); err == nil {
			c.Close()
			return
		}
	}
	s.t.Fatalf("nats-server does not listen on %s after %v", s.address, startLimit)
}
