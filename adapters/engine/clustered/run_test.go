package clustered_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/engine/clustered"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/clustertest"
	"github.com/lockproof/lockproof/internal/waittest"
	"github.com/lockproof/lockproof/model/history"

	_ "github.com/lockproof/lockproof/sim/amqp" // registers the backend of the tested locks
)

func TestMain(m *testing.M) { os.Exit(waittest.Run(m)) }

// placed is a lock design with a placement: the nodes of clients a and b, and of the queue (at). heldTwice says that
// both clients hold the lock while n1 is cut off.
type placed struct {
	design    string
	a, b, at  int
	heldTwice bool
}

// ignored has the placements to test in mode ignore, and paused those in mode pause_minority. Their outcome does not
// depend on which node notices the cut first.
var (
	ignored = []placed{
		{"exclusive-queue", 1, 2, 1, true}, {"exclusive-queue", 2, 1, 2, true},
		{"classic-token", 2, 1, 1, true}, {"classic-token", 1, 3, 2, true}, {"classic-token", 1, 2, 1, false}, {"classic-token", 2, 1, 2, false},
		{"quorum-token", 1, 3, 2, true}, {"quorum-token", 2, 1, 2, false}, {"exclusive-consumer", 1, 2, 1, false},
	}
	paused = []placed{
		{"classic-token", 1, 2, 1, false}, {"classic-token", 2, 1, 2, false}, {"quorum-token", 2, 1, 2, false}, {"exclusive-consumer", 2, 1, 2, false},
	}
)

// TestCut cuts n1 off. Two clients must hold the lock at once in exactly the placements with heldTwice. In mode
// pause_minority the node that is cut off must notify its clients.
func TestCut(t *testing.T) {
	for mode, all := range map[cluster.Mode][]placed{cluster.Ignore: ignored, cluster.PauseMinority: paused} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			c := clustertest.Start(t, cluster.Options{Mode: mode})
			outcomes := cut(t, c, all)
			for i, o := range outcomes {
				p := all[i]
				if o.Err != nil || o.Report == nil {
					t.Errorf("%+v: %v", p, o.Err)
					continue
				}
				violated := o.Report.Outcome() == report.OutcomeViolated
				if o.Measure.Twice() != p.heldTwice || p.heldTwice && !violated {
					t.Errorf("%+v: held twice %v for %s, %s: %v", p, o.Measure.Twice(), o.Measure.Longest, o.Report.Outcome(), o.Report.Together)
				}
				if told := gone(o.History); mode == cluster.PauseMinority && p.a == 1 && !told {
					t.Errorf("%+v: the client at n1 was told nothing", p)
				}
			}
		})
	}
}

// cut runs trials of all placements while n1 is cut off for 15 seconds.
func cut(t *testing.T, c *cluster.Cluster, all []placed) []clustered.Outcome {
	t.Helper()
	var trials []clustered.Trial
	for _, p := range all {
		d, err := designs.Named(p.design)
		if err != nil {
			t.Fatal(err)
		}
		trials = append(trials, clustered.Trial{Design: &d, Clients: []int{p.a, p.b}, Queue: p.at})
	}
	steps := nemesis.Plan{Nodes: c.Nodes(), Faults: []nemesis.Fault{nemesis.Cut}, At: 1, Length: 15 * time.Second, Pause: time.Second}.Draw()
	outcomes, err := clustered.Run(t.Context(), clustered.Config{Cluster: c, Trials: trials, Steps: steps, Limit: 10 * time.Second, Log: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// gone reports whether the first client lost its connection or consumer in the history.
func gone(h *history.History) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.F == history.Gone && e.Target == 1 })
}
