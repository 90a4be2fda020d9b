package clustered_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine/clustered"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/adapters/redis/sentinel"
	"github.com/lockproof/lockproof/internal/redistest"
	"github.com/lockproof/lockproof/model/lock"
)

// TestSentinel cuts a Redis master off from the other nodes. The old master continues to grant leases, and the newly
// promoted replica grants them as well, so that two clients hold the lock. If a grant has to wait for a replica, the
// old master grants nothing. Stopping the deployment leaves nothing behind.
func TestSentinel(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short starts no clusters")
	}
	redistest.Program(t)
	for _, l := range sentinel.Leases {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			c, err := sentinel.Start(t.Context(), 3, func(line string) { t.Log(line) })
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Stop(); err != nil {
					t.Error(err)
				}
			}()
			outcomes, err := clustered.Run(t.Context(), clustered.Config{
				Cluster: c, Trials: []clustered.Trial{{Starter: l.Starter(), Kind: lock.Mutex, Clients: []int{1, 2}}}, Hold: time.Second,
				Steps: nemesis.Plan{Nodes: 3, Faults: []nemesis.Fault{nemesis.Cut}, At: 1, Length: 20 * time.Second, Pause: time.Second}.Draw(),
				Log:   func(line string) { t.Log(line) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if twice := outcomes[0].Measure.Twice(); twice != (l.Name == sentinel.Leases[0].Name) || outcomes[0].Err != nil {
				t.Errorf("held twice: %v, %v; %v", twice, outcomes[0].Report.Together, outcomes[0].Err)
			}
		})
	}
}

// TestSentinelRestarts checks that a killed node comes back and the Sentinels recognise it. A deployment of two nodes
// is refused.
func TestSentinelRestarts(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short starts no clusters")
	}
	redistest.Program(t)
	t.Setenv("TMPDIR", t.TempDir())
	c, err := sentinel.Start(t.Context(), 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range (nemesis.Plan{Nodes: 3, Faults: []nemesis.Fault{nemesis.Kill, nemesis.Pause}, At: 2, Length: time.Second, Pause: 100 * time.Millisecond}).Draw() {
		time.Sleep(s.After)
		if err := c.Befall(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(c.String(), "Redis ") || !strings.HasPrefix(c.URL(3), "redis+sentinel://127.0.0.1:") || !strings.HasSuffix(c.URL(3), "/lockproof?from=127.0.9.3") {
		t.Errorf("%s at %s", c, c.URL(3))
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR") + "/lockproof-0"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := sentinel.Start(t.Context(), 2, nil); err == nil {
		t.Error("two nodes are started, which are no majority when one fails")
	}
	starter := sentinel.Leases[0].Starter()
	for _, address := range []string{"redis://127.0.0.1:6379", "\x00", "amqp://x"} {
		if _, err := starter.New(t.Context(), address); err == nil {
			t.Errorf("%q is an address of Sentinels", address)
		}
	}
}
