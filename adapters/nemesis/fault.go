package nemesis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/lockproof/lockproof/model/history"
)

// Fault is a kind of what befalls machines.
type Fault string

// The faults.
const (
	Cut            Fault = "cut"             // a node is separated from all others, and joined again
	CutOneWay      Fault = "cut-one-way"     // what a node sends does not arrive, or what is sent to it
	Kill           Fault = "kill"            // a node ends without a chance to do anything, and is started again
	Terminate      Fault = "terminate"       // a node ends in good order, and is started again
	Pause          Fault = "pause"           // a node stands still, and goes on
	RollingRestart Fault = "rolling-restart" // one node after the other ends in good order and is started again
)

// Faults are all faults.
var Faults = []Fault{Cut, CutOneWay, Kill, Terminate, Pause, RollingRestart}

// FaultNamed is the fault with that name.
func FaultNamed(name string) (Fault, error) {
	var names []string
	for _, f := range Faults {
		if string(f) == name {
			return f, nil
		}
		names = append(names, string(f))
	}
	return "", fmt.Errorf("%q: expected one of %s", name, strings.Join(names, ", "))
}

// Step is one action of a sequence. F is the event that histories have of it.
type Step struct {
	After time.Duration // from the end of the step before
	F     history.F
	Nodes history.Nodes // that it befalls
	To    history.Nodes // of a cut: the nodes that they are separated from
}

// String is the step in words.
func (s Step) String() string {
	switch s.F {
	case history.Cut:
		return fmt.Sprintf("cut %s → %s", s.Nodes, s.To)
	case history.Heal:
		return "heal"
	}
	verb, _, _ := strings.Cut(s.F.String(), "-")
	return fmt.Sprintf("%s %s", verb, s.Nodes)
}

// Plan says which sequences of faults are drawn.
type Plan struct {
	Nodes  int     // of the cluster
	Faults []Fault // that follow one another; empty is one to three, drawn
	// From are the faults that are drawn from; empty is all.
	From []Fault
	// At is the node that they befall, from 1; 0 has each fault's drawn.
	At int
	// Length is how long a cut or a pause lasts, and Pause how long it is before each fault and how long a node stays down.
	Length, Pause time.Duration
	Seed          uint64
}

// Draw is the sequence of a plan. Equal plans have equal sequences.
func (p Plan) Draw() (all []Step) {
	random := rand.New(rand.NewPCG(p.Seed, 0))
	faults := p.Faults
	if len(faults) == 0 {
		from := p.From
		if len(from) == 0 {
			from = Faults
		}
		for range 1 + random.IntN(3) {
			faults = append(faults, from[random.IntN(len(from))])
		}
	}
	for _, f := range faults {
		at := 1 + random.IntN(p.Nodes)
		if p.At > 0 {
			at = p.At
		}
		all = append(all, p.steps(f, at, random.IntN(2) == 0)...)
	}
	return all
}

// steps are those of one fault. in says, of a cut in one direction, that nothing arrives at the node.
func (p Plan) steps(f Fault, at int, in bool) []Step {
	node, others := history.NodesOf(at), history.NodesOf()
	for i := range p.Nodes {
		if i+1 != at {
			others |= history.NodesOf(i + 1)
		}
	}
	start := Step{After: p.Pause, F: history.StartNode, Nodes: node}
	switch f {
	case Cut:
		return []Step{
			{After: p.Pause, F: history.Cut, Nodes: node, To: others}, {F: history.Cut, Nodes: others, To: node},
			{After: p.Length, F: history.Heal},
		}
	case CutOneWay:
		from, to := node, others
		if in {
			from, to = others, node
		}
		return []Step{{After: p.Pause, F: history.Cut, Nodes: from, To: to}, {After: p.Length, F: history.Heal}}
	case Kill:
		return []Step{{After: p.Pause, F: history.KillNode, Nodes: node}, start}
	case Terminate:
		return []Step{{After: p.Pause, F: history.TerminateNode, Nodes: node}, start}
	case Pause:
		return []Step{{After: p.Pause, F: history.PauseNode, Nodes: node}, {After: p.Length, F: history.ResumeNode, Nodes: node}}
	}
	return p.rolling(at)
}

// rolling restarts one node after the other, from one of them on.
func (p Plan) rolling(first int) (all []Step) {
	for i := range p.Nodes {
		node := history.NodesOf((first-1+i)%p.Nodes + 1)
		all = append(all, Step{After: p.Pause, F: history.TerminateNode, Nodes: node}, Step{After: p.Pause, F: history.StartNode, Nodes: node})
	}
	return all
}
