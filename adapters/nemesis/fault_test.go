package nemesis

import (
	"slices"
	"testing"
	"time"

	"github.com/lockproof/lockproof/model/history"
)

// Equal plans draw equal sequences. At the end of each sequence all nodes run and are connected.
func TestDraw(t *testing.T) {
	seen := make(map[history.F]bool)
	for seed := range uint64(200) {
		p := Plan{Nodes: 3, Length: time.Second, Pause: time.Second, Seed: seed}
		steps := p.Draw()
		if !slices.Equal(steps, p.Draw()) {
			t.Fatalf("seed %d: two sequences", seed)
		}
		for _, s := range steps {
			seen[s.F] = true
			if s.F == history.Cut && (s.Nodes == 0 || s.To == 0 || s.Nodes&s.To != 0) {
				t.Errorf("seed %d: %s", seed, s)
			}
		}
		if down, cut := left(steps); len(steps) == 0 || down != 0 || cut {
			t.Errorf("seed %d: %v leaves %s down or paused, cut %v", seed, steps, down, cut)
		}
	}
	for f := history.Cut; f.Machine(); f++ {
		if !seen[f] {
			t.Errorf("%s is never drawn", f)
		}
	}
}

// left returns which nodes are down or paused after the steps, and whether some node is still cut off.
func left(steps []Step) (down history.Nodes, cut bool) {
	for _, s := range steps {
		switch s.F {
		case history.Cut, history.Heal:
			cut = s.F == history.Cut
		case history.KillNode, history.TerminateNode, history.PauseNode:
			down |= s.Nodes
		case history.StartNode, history.ResumeNode:
			down &^= s.Nodes
		}
	}
	return down, cut
}

// If a plan names a fault and a node, exactly that fault affects exactly that node.
func TestDrawAt(t *testing.T) {
	for _, f := range Faults {
		steps := Plan{Nodes: 3, Faults: []Fault{f}, At: 2}.Draw()
		if n := steps[0].Nodes; n != history.NodesOf(2) && steps[0].To != history.NodesOf(2) {
			t.Errorf("%s befalls %s", f, n)
		}
		if got, err := FaultNamed(string(f)); got != f || err != nil {
			t.Errorf("%s: %s, %v", f, got, err)
		}
	}
	if _, err := FaultNamed("flood"); err == nil {
		t.Error("a fault that is none")
	}
}
