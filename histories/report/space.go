package report

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// Space is the state space of a Visited run, for readers who know the field.
type Space struct {
	States      int // distinct
	Transitions int
	Diameter    int // the longest of the shortest paths to a state, in steps
	Final       int // states in which nothing more can happen
	Queue       int // states seen but not expanded because of a bound
	Bytes       int // bytes for each state, including tables and queue
	Reductions  []string
	// Missed bounds the probability that a state was mistaken for another; Certainty says it in words.
	Missed    float64
	Certainty string
	// Cut is the reason why not everything was visited; "" if it was.
	Cut string
	// Moments says at which moments time passed, if not all were tried: properties are then passed, not proved. ""
	// means that time does not matter.
	Moments string
	// Operations are the numbers of transitions by operation.
	Operations []Count
	Covered    []string // endings of operations and replies of the broker that occurred
	NotCovered []string // expected ones that did not occur
}

// Count is a number of things with a name.
type Count struct {
	Name   string
	Number int
}

// Branching is the average number of transitions from a state.
func (s *Space) Branching() float64 {
	if s.States == s.Queue {
		return 0
	}
	return float64(s.Transitions) / float64(s.States-s.Queue)
}

// cardSpace is the text of the card about the space.
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
