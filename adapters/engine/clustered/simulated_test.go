package clustered_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/engine/clustered"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/internal/pinned"
	simulated "github.com/lockproof/lockproof/sim/amqp/cluster"
)

// TestSimulatedDesigns checks that the simulated cluster models every measured design.
func TestSimulatedDesigns(t *testing.T) {
	for _, d := range designs.All {
		if _, err := simulated.DesignNamed(d.Name); err != nil {
			t.Error(err)
		}
	}
	if len(designs.All) != len(simulated.Designs) {
		t.Errorf("the model has %d designs, and %d are measured", len(simulated.Designs), len(designs.All))
	}
}

// cellOf identifies a cell of a table.
type cellOf struct{ version, fault, design, where, mode string }

// TestSimulatedAgrees compares measured and simulated clusters. If two clients held a lock on real nodes for more than
// 0.1 s, they can on the simulated cluster as well. testdata/model-only.txt lists what only the simulated cluster
// shows; real nodes are too quick for it.
func TestSimulatedAgrees(t *testing.T) {
	const mnesia, khepri = "3.10.8", "4.0.5 with Khepri"
	can := twiceHeld(t, mnesia, clustered.ModelConfig{Modes: cluster.Modes})
	for k := range twiceHeld(t, khepri, clustered.ModelConfig{Modes: []cluster.Mode{cluster.PauseMinority}, Khepri: true}) {
		can[k] = true
	}
	seen := 0
	for _, c := range cluster.Measured() {
		k := cellOf{c.Version, string(c.Fault), c.Design, c.Where, string(c.Mode)}
		if c.Version != mnesia && c.Version != khepri || !longEnough(c.Said) {
			continue
		}
		seen++
		if !can[k] {
			t.Errorf("%v: measured %s, and the model has no such execution", k, c.Said)
		}
		delete(can, k)
	}
	var only []string
	for k := range can {
		only = append(only, fmt.Sprintf("%s: %s %s, %s, %s\n", k.version, k.fault, k.design, k.where, k.mode))
	}
	slices.Sort(only)
	t.Logf("%d cells agree, and %d are the model's alone", seen, len(only))
	pinned.Text(t, "testdata/model-only.txt", strings.Join(only, ""))
}

// twiceHeld returns the cells in which two clients can hold the lock on the simulated cluster.
func twiceHeld(t *testing.T, version string, c clustered.ModelConfig) map[cellOf]bool {
	t.Helper()
	c.Nodes, c.Designs = 3, designs.All
	c.Faults = slices.DeleteFunc(slices.Clone(nemesis.Faults), func(f nemesis.Fault) bool { return f == nemesis.CutOneWay })
	m, err := clustered.Explore(c)
	if err != nil {
		t.Fatal(err)
	}
	can := make(map[cellOf]bool)
	for _, cell := range m.Cells {
		if len(cell.Steps) > 0 {
			can[cellOf{version, cell.Fault, cell.Design, cell.Placement, cell.Mode}] = true
		}
	}
	return can
}

// longEnough reports whether two clients held a lock for more than 0.1 s in any of a cell's runs.
func longEnough(said string) bool {
	for _, run := range strings.Split(said, ",") {
		word := strings.Fields(run)[0]
		if seconds, err := strconv.ParseFloat(word, 64); word == "∞" || err == nil && seconds > 0.1 {
			return true
		}
	}
	return false
}
