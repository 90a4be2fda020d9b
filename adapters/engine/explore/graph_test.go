package explore

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestGraph replays the path to states of the graph. The path must violate a property exactly if the graph marks the
// state as violating.
func TestGraph(t *testing.T) {
	for name, breaks := range map[string]bool{"mutex": false, "mutex-shared": true} {
		target, err := engine.TargetNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		e := Exploration{Target: target, Workload: Workload{Clients: 2, Rounds: 1, Faults: sim.FaultBounds{Crashes: 1, Late: true}}}
		graph, start, err := e.Graph()
		if err != nil || graph.Cut || len(graph.Nodes) < 20 {
			t.Fatalf("%s: %+v, %v", name, graph, err)
		}
		broken := false
		for i, n := range graph.Nodes {
			broken = broken || n.Broken
			if i%7 != 0 && !n.Broken {
				continue
			}
			var path []scenario.Action
			for at := i; at > 0; at = graph.Nodes[at].Parent {
				path = append([]scenario.Action{graph.Nodes[at].Action}, path...)
			}
			ce, err := histories.DecodeCounterexample("start", []byte(start))
			if err != nil {
				t.Fatal(err)
			}
			ce.Scenario.Schedule.Actions = path
			r, err := engine.Replay(ce)
			if err != nil {
				t.Fatal(err)
			}
			_, violated := r.Trace.Violation(property.CrashFrees)
			if len(r.Trace.Steps) != len(path) || len(path) != n.Depth || violated && !n.Broken || n.Broken && len(r.Trace.Violations) == 0 {
				t.Errorf("%s: state %d after %v: broken %t, and %v is violated", name, i, path, n.Broken, r.Trace.Violations)
			}
		}
		if broken != breaks {
			t.Errorf("%s: a violation is in the graph: %t", name, broken)
		}
	}
}
