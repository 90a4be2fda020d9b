package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
)

var (
	n1, others = history.NodesOf(1), history.NodesOf(2, 3)
	cutOff     = []Fault{{F: history.Cut, Nodes: n1, To: others}, {F: history.Cut, Nodes: others, To: n1}, {F: history.Heal}}
	killed     = []Fault{{F: history.KillNode, Nodes: n1}, {F: history.StartNode, Nodes: n1}}
	stopped    = []Fault{{F: history.PauseNode, Nodes: n1}, {F: history.ResumeNode, Nodes: n1}}
	restarted  = []Fault{
		{F: history.TerminateNode, Nodes: n1}, {F: history.StartNode, Nodes: n1},
		{F: history.TerminateNode, Nodes: history.NodesOf(2)}, {F: history.StartNode, Nodes: history.NodesOf(2)},
	}
)

// explored returns, as text, the steps of the shortest execution in which both clients hold the lock. If there is no
// such execution, it returns no steps.
func explored(t *testing.T, design string, m Model) []string {
	t.Helper()
	var err error
	if m.Design, err = DesignNamed(design); err != nil {
		t.Fatal(err)
	}
	m.Nodes = 3
	r, err := m.Explore()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := m.Explore(); !slices.Equal(again.Steps, r.Steps) || again.States != r.States {
		t.Errorf("%s: two searches differ: %q and %q", design, r.Steps, again.Steps)
	}
	return r.Steps
}

// TestShortest: the model finds the executions that were observed on real clusters, with the same number of steps.
func TestShortest(t *testing.T) {
	for _, c := range []struct {
		design string
		model  Model
		steps  int
		last   string // part of the step before the second client gets the lock
	}{
		{"exclusive-queue", Model{Mode: Ignore, A: 1, B: 2, Queue: 1, Faults: cutOff}, 4, "n2 notices that n1 is gone, and its part deletes the exclusive queue there"},
		{"exclusive-queue", Model{Mode: PauseMinority, A: 1, B: 2, Queue: 1, Faults: cutOff}, 4, "n2 notices that n1 is gone, and its part deletes the exclusive queue there"},
		{"exclusive-queue", Model{Khepri: true, A: 2, B: 1, Queue: 1, Faults: cutOff}, 7, "Khepri carries out what the minority had proposed: the exclusive queue is deleted"},
		{"classic-token", Model{Mode: PauseMinority, A: 2, B: 1, Queue: 1, Faults: killed}, 4, "n1 is started"},
		{"classic-token", Model{Mode: Ignore, A: 1, B: 3, Queue: 2, Faults: cutOff}, 4, "n2 notices that n1 is gone, and returns what its clients had"},
		{"quorum-token", Model{Mode: Ignore, A: 1, B: 2, Queue: 1, Faults: cutOff}, 6, "the majority elects n2, which returns the messages of clients that it does not see"},
		{"mirrored-token", Model{Mode: Autoheal, A: 2, B: 3, Queue: 1, Faults: killed}, 4, "n1 is started"},
		{"classic-token", Model{Mode: PauseMinority, A: 2, B: 1, Queue: 2, Faults: restarted}, 11, "n2 is started"},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.design, c.steps), func(t *testing.T) {
			steps := explored(t, c.design, c.model)
			if len(steps) != c.steps || len(steps) > 1 && !strings.Contains(steps[len(steps)-2], c.last) {
				t.Errorf("%d steps, expected %d, the last but one %q:\n%s", len(steps), c.steps, c.last, strings.Join(steps, "\n"))
			}
		})
	}
}

// TestStoodStill: a node that was paused by a fault does not stop because it sees a minority. Both clients then keep
// the lock.
func TestStoodStill(t *testing.T) {
	steps := explored(t, "exclusive-queue", Model{Mode: PauseMinority, A: 2, B: 1, Queue: 1, Faults: stopped})
	if all := strings.Join(steps, "\n"); len(steps) == 0 || strings.Contains(all, "pause itself") || !strings.Contains(all, "n1 goes on") {
		t.Errorf("%q", steps)
	}
}

// TestRight: two clients never hold the lock without faults. Nor do they if a majority of nodes that stay together has
// the holder and the queue.
func TestRight(t *testing.T) {
	for _, d := range Designs {
		for _, mode := range []Mode{Ignore, PauseMinority, Autoheal} {
			if steps := explored(t, d.Name, Model{Mode: mode, A: 1, B: 2, Queue: 1}); len(steps) > 0 {
				t.Errorf("%s without faults: %q", d.Name, steps)
			}
		}
		if d.kind == classic || d.kind == quorum {
			if steps := explored(t, d.Name, Model{Mode: PauseMinority, A: 2, B: 1, Queue: 2, Faults: cutOff}); len(steps) > 0 {
				t.Errorf("%s, holder and queue in the majority: %q", d.Name, steps)
			}
		}
	}
}

// TestCheck: Explore refuses impossible models.
func TestCheck(t *testing.T) {
	for _, m := range []Model{
		{Nodes: 1, A: 1, B: 1}, {Nodes: MostModelled + 1, A: 1, B: 2}, {Nodes: 3, A: 1, B: 4}, {Nodes: 3, A: 1, B: 2, Design: Designs[2], Queue: 4},
		{Nodes: 3, A: 1, B: 2, Queue: 1, Design: Designs[9], Khepri: true},
	} {
		if _, err := m.Explore(); err == nil {
			t.Errorf("%+v is explored", m)
		}
	}
	if _, err := DesignNamed("nothing"); err == nil {
		t.Error("a design without a name is found")
	}
}
