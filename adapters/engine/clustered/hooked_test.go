//go:build linux

package clustered_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/engine/clustered"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/internal/clustertest"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/history"
)

// TestHooked runs against a cluster that was not started for the run, with faults caused by the user's hook commands. A
// run that is interrupted must undo its faults and delete its queues.
func TestHooked(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, cluster.Options{Nodes: 2})
	urls, log := []string{c.URL(1), c.URL(2)}, filepath.Join(t.TempDir(), "log")
	pid := serverAt(t, c.URL(1))
	hooks, err := cluster.ParseHooks([]string{
		fmt.Sprintf("pause=echo paused $LOCKPROOF_NODES >> %s; kill -STOP %s", log, pid), fmt.Sprintf("resume=echo resumed >> %s; kill -CONT %s", log, pid),
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := cluster.Join(t.Context(), urls, hooks)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d, err := designs.Named("classic-token")
	if err != nil {
		t.Fatal(err)
	}
	var queue string
	_, err = clustered.Run(ctx, clustered.Config{
		Cluster: h, Trials: []clustered.Trial{{Design: &d, Clients: []int{1, 2}, Queue: 2}}, Limit: 5 * time.Second,
		Steps: nemesis.Plan{Nodes: 2, Faults: []nemesis.Fault{nemesis.Pause}, At: 1, Length: time.Hour, Pause: time.Second}.Draw(),
		Sweep: (&rabbitmq.Broker{URL: c.URL(2)}).Sweep,
		Keep:  func(h *history.History) (string, error) { queue = h.Locks[0] + ".lock"; return "", nil },
		Log: func(line string) {
			if t.Log(line); line == "pause n1" {
				time.AfterFunc(time.Second, cancel)
			}
		},
	})
	if err == nil {
		t.Error("the run was not interrupted")
	}
	said, _ := os.ReadFile(log)
	if u, _ := url.Parse(c.URL(1)); string(said) != "paused "+u.Host+"\nresumed\n" {
		t.Errorf("hooks said %q", said)
	}
	if queue == "" {
		t.Fatal("there is no history")
	}
	if n, err := d.Tokens(t.Context(), c.URL(2), strings.TrimSuffix(queue, ".lock")); err == nil {
		t.Errorf("the queue %s is left, with %d messages", queue, n)
	}
}

// TestHooksFail checks that a fault is undone even if its hook failed, and that undoing is tried once more if it fails.
func TestHooksFail(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	hooks, err := cluster.ParseHooks([]string{"pause=echo no; exit 3", fmt.Sprintf("resume=echo tried >> %s; test $(wc -l < %s) = 2", log, log)})
	if err != nil {
		t.Fatal(err)
	}
	h, err := cluster.Join(t.Context(), []string{rabbitmqtest.URL(t)}, hooks)
	if err != nil {
		t.Fatal(err)
	}
	pause := nemesis.Plan{Nodes: 1, Faults: []nemesis.Fault{nemesis.Pause}, At: 1}.Draw()[0]
	if err := h.Befall(t.Context(), pause); err == nil || !strings.Contains(err.Error(), "the hook for pause n1: exit status 3; it said: no") {
		t.Errorf("%v", err)
	}
	if err := h.Abandon(); err == nil {
		t.Error("undoing has failed without an error")
	}
	for range 2 {
		if err := h.Abandon(); err != nil {
			t.Error(err)
		}
	}
	if said, _ := os.ReadFile(log); string(said) != "tried\ntried\n" {
		t.Errorf("undone: %q", said)
	}
}

// serverAt returns the process id of the node at an address.
func serverAt(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		name, _ := os.ReadFile(p + "/comm")
		environment, _ := os.ReadFile(p + "/environ")
		if strings.HasPrefix(string(name), "beam") && strings.Contains(string(environment), "\x00RABBITMQ_NODE_PORT="+u.Port()+"\x00") {
			return filepath.Base(p)
		}
	}
	t.Fatalf("no process of a node at %s", address)
	return ""
}

// TestNoCluster checks that two unconnected brokers are refused as a cluster, and that invalid hooks are refused.
func TestNoCluster(t *testing.T) {
	t.Parallel()
	url := rabbitmqtest.URL(t)
	other, err := wire.Listen("127.0.0.1:0", wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := cluster.Join(t.Context(), []string{url, other.URL()}, nil); err == nil || !strings.Contains(err.Error(), "a lock on both is two locks") {
		t.Errorf("joined: %v", err)
	}
	for _, bad := range [][]string{{"cut"}, {"flood=true"}, {"cut= "}, {"cut=true", "cut=false"}} {
		if _, err := cluster.ParseHooks(bad); err == nil {
			t.Errorf("%q are hooks", bad)
		}
	}
	hooks := cluster.Hooks{"kill": "k", "start": "s", "cut": "c"}
	if got := fmt.Sprint(hooks.Faults()); got != "[kill]" || hooks.Missing(nemesis.Cut) != "heal" {
		t.Errorf("%s, missing %q", got, hooks.Missing(nemesis.Cut))
	}
}
