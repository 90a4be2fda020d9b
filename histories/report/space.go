package report

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// Space has the figures of the state space of a Visited run, in terms of model checking.
type Space struct {
	States      int // number of distinct states
	Transitions int
	Diameter    int // length of the longest of the shortest paths to a state, in steps
	Final       int // number of states without further steps
	Queue       int // number of states not expanded because a bound was reached
	Bytes       int // memory for each state in bytes, including tables and queue
	Reductions  []string
	// Missed is an upper bound of the probability that a state was taken for another one. Certainty says this in words.
	Missed    float64
	Certainty string
	// Cut is the reason why not every state was visited; "" if all were.
	Cut string
	// Moments says at which moments time could pass, if not all moments were tried. Properties are then passed, not
	// proved. "" means that all were tried, or that time does not matter.
	Moments string
	// Operations are the numbers of transitions, by operation.
	Operations []Count
	Covered    []string // coverage points, such as replies of the broker, that occurred
	NotCovered []string // coverage points that were expected, but did not occur
}

// Count is a name with a number.
type Count struct {
	Name   string
	Number int
}

// Branching is the average number of transitions that leave an expanded state.
func (s *Space) Branching() float64 {
	if s.States == s.Queue {
		return 0
	}
	return float64(s.Transitions) / float64(s.States-s.Queue)
}

// cardSpace is the part of the card about the state space.
func cardSpace(r *Report, s style.Style) []style.Line {
	sp := r.Space
	if sp == nil {
		return nil
	}
	out := labelled("visited", style.List([]string{
		style.Plural(sp.States, "state"), style.Plural(sp.Transitions, "transition"), fmt.Sprintf("diameter %d", sp.Diameter),
		fmt.Sprintf("branching %.1f", sp.Branching()), style.Plural(sp.Final, "final state"),
		fmt.Sprintf("%d bytes a state", sp.Bytes),
	}), style.Plain, s)
	if sp.Cut != "" {
		out = append(out, labelled("not everything", strings.Fields(sp.Cut), style.Yellow, s)...)
	}
	if sp.Moments != "" {
		out = append(out, labelled("time", strings.Fields(sp.Moments), style.Yellow, s)...)
	}
	if len(sp.Reductions) > 0 {
		out = append(out, labelled("reduced by", style.List(sp.Reductions), style.Plain, s)...)
	}
	out = append(out, labelled("certainty", strings.Fields(sp.Certainty), style.Plain, s)...)
	out = append(out, labelled("transitions", style.List(counted(sp.Operations)), style.Plain, s)...)
	out = append(out, labelled("covered", style.List(sp.Covered), style.Plain, s)...)
	if len(sp.NotCovered) > 0 {
		out = append(out, labelled("not covered", style.List(sp.NotCovered), style.Yellow, s)...)
	}
	return out
}
