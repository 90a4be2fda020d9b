package nemesis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/lockproof/lockproof/model/history"
)

// Fault is a kind of fault of a machine.
type Fault string

// The kinds of machine faults.
const (
	Cut            Fault = "cut"             // a node is disconnected from all others, and reconnected later
	CutOneWay      Fault = "cut-one-way"     // what a node sends does not arrive, or nothing arrives at the node
	Kill           Fault = "kill"            // a node is killed, and started again
	Terminate      Fault = "terminate"       // a node shuts down cleanly, and is started again
	Pause          Fault = "pause"           // a node is suspended, and resumed
	RollingRestart Fault = "rolling-restart" // the nodes, one after the other, shut down cleanly and are started again
)

// Faults lists all kinds of faults.
var Faults = []Fault{Cut, CutOneWay, Kill, Terminate, Pause, RollingRestart}

// FaultNamed returns the kind of fault with the given name, such as "cut".
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

// Step is one action of the nemesis, for example to kill node 2. F is the kind of event that records it in histories.
type Step struct {
	After time.Duration // pause after the previous step
	F     history.F
	Nodes history.Nodes // affected nodes, for example those that are cut off
	To    history.Nodes // for a cut: nodes that receive nothing from Nodes
}

// String returns a description of the step for reports.
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

// Plan configures the sequences of faults that Draw draws.
type Plan struct {
	Nodes  int     // number of nodes of the cluster
	Faults []Fault // kinds of faults to cause, in this order; if empty, one to three are drawn
	// From are the faults from which Draw draws; empty is all.
	From []Fault
	// At is the number of the affected node, from 1; 0 draws a node for each fault.
	At int
	// Length is the duration of a cut or a pause. Pause is the time before each fault, and the time that a node stays down.
	Length, Pause time.Duration
	Seed          uint64
}

// Draw returns the sequence of faults of a plan. It returns the same sequence for the same plan.
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

// steps returns the steps of fault f at node at. If f is CutOneWay, in decides the direction: if true, nothing arrives at
// the node.
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

// rolling returns the steps that restart one node after the other, beginning with node first.
func (p Plan) rolling(first int) (all []Step) {
	for i := range p.Nodes {
		node := history.NodesOf((first-1+i)%p.Nodes + 1)
		all = append(all, Step{After: p.Pause, F: history.TerminateNode, Nodes: node}, Step{After: p.Pause, F: history.StartNode, Nodes: node})
	}
	return all
}
