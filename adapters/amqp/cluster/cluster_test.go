//go:build unix

package cluster_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/internal/clustertest"
	"github.com/lockproof/lockproof/internal/waittest"
	"github.com/lockproof/lockproof/model/history"
)

func TestMain(m *testing.M) { os.Exit(waittest.Run(m)) }

// TestCluster cuts a node off and heals the links, then kills a node and starts it again. The cluster must become whole
// each time. Stopping the cluster must leave no process and no file.
func TestCluster(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c := clustertest.Start(t, cluster.Options{Mode: cluster.PauseMinority})
	if !strings.HasPrefix(c.Version, "RabbitMQ ") || c.Nodes() != 3 {
		t.Errorf("started %s", c)
	}
	befall := func(f history.F, nodes, to history.Nodes) {
		t.Helper()
		if err := c.Befall(t.Context(), nemesis.Step{F: f, Nodes: nodes, To: to}); err != nil {
			t.Fatal(err)
		}
	}
	befall(history.Cut, history.NodesOf(1), history.NodesOf(2, 3))
	befall(history.Cut, history.NodesOf(2, 3), history.NodesOf(1))
	waittest.Until(t, "the majority notices that n1 is gone", func() bool {
		return strings.Contains(c.Views(t.Context()), "n2 sees 2 running")
	})
	befall(history.Heal, 0, 0)
	whole(t, c)
	befall(history.KillNode, history.NodesOf(3), 0)
	if err := c.Befall(t.Context(), nemesis.Step{F: history.KillNode, Nodes: history.NodesOf(3)}); err == nil {
		t.Error("a node that is down is killed again")
	}
	if err := c.Mend(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole(t, c)
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, os.Getenv("TMPDIR"))
}

func whole(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Minute, fmt.Errorf("not whole after 3 minutes"))
	defer cancel()
	if err := c.Whole(ctx); err != nil {
		t.Fatal(err)
	}
}

// nothingLeft waits until dir contains no file of lockproof, and no process mentions dir in its environment.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	waittest.Until(t, "nothing is left in "+dir, func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "lockproof-*/*"))
		return len(files) == 0 && processesOf(dir) == 0
	})
}

// processesOf counts the processes that mention dir in their environment; it is 0 on systems without /proc.
func processesOf(dir string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		if env, _ := os.ReadFile(path); strings.Contains(string(env), filepath.Join(dir, "lockproof-")) {
			n++
		}
	}
	return n
}

// Invalid options and broken programs give an error of one line. Nothing is left running.
func TestRefused(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for want, o := range map[string]cluster.Options{
		"expected 2 to 7":                         {Nodes: 1},
		"expected ignore, pause_minority or auto": {Mode: "pray"},
		"has no rabbitmq-server":                  {Folder: t.TempDir()},
		"it said: no Erlang here":                 {Folder: broken(t)},
	} {
		c, err := cluster.Start(t.Context(), o)
		if err == nil {
			_ = c.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, expected %q", o, err, want)
		}
	}
	nothingLeft(t, os.Getenv("TMPDIR"))
}

// broken is a folder with a rabbitmq-server that exits at once with an error.
func broken(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("epmd"); err != nil {
		t.Skip("skipped: Erlang is not installed")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "rabbitmq-server")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no Erlang here\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

const envHelper = "LOCKPROOF_TEST_CLUSTER_HELPER"

// If the process that started a cluster is killed, the cluster's processes end too, even while the cluster is forming.
func TestEndsWithItsProcess(t *testing.T) {
	if _, err := exec.LookPath("epmd"); err != nil {
		t.Skip("skipped: Erlang is not installed")
	}
	tmp := t.TempDir()
	helper := exec.Command(os.Args[0], "-test.run=^TestHelper$")
	helper.Env = append(os.Environ(), envHelper+"="+standIn(t), "TMPDIR="+tmp)
	helper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		t.Fatal("the helper says nothing")
	}
	waittest.Until(t, "nodes are there", func() bool { return processesOf(tmp) >= 2 })
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait()
	nothingLeft(t, tmp)
}

// standIn is a folder with a rabbitmq-server that never accepts clients and ignores SIGHUP, SIGINT and SIGTERM.
func standIn(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "rabbitmq-server")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntrap '' HUP INT TERM\nwhile :; do sleep 1; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestHelper is the process that TestEndsWithItsProcess starts and kills. In an ordinary test run it does nothing.
func TestHelper(t *testing.T) {
	folder := os.Getenv(envHelper)
	if folder == "" {
		return
	}
	fmt.Println("starting")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, _ = cluster.Start(ctx, cluster.Options{Nodes: 2, Folder: folder})
}
