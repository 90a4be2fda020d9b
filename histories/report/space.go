package report

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// Space is the space of a Visited run, for readers who know the field.
type Space struct {
	States      int // distinct
	Transitions int
	Diameter    int // the longest shortest way to a state, in turns
	Final       int // states in which nothing can happen any more
	Queue       int // states seen and not expanded: what a bound left over
	Bytes       int // a state, tables and queue included
	Reductions  []string
	// Missed is how likely it is that a state was taken for another, at most; Certainty says it in words.
	Missed    float64
	Certainty string
	// Cut says why not everything was visited; "" where it was.
	Cut string
	// Moments says at which moments time passed, where not all were tried: what holds then is passed, not proved. "" is that time
	// does not matter.
	Moments string
	// Operations are how many transitions were part of each.
	Operations []Count
	Covered    []string // endings of operations and replies of the broker that some execution came to
	NotCovered []string // those that could be expected and that none did
}

// Count is a number of something.
type Count struct {
	Name   string
	Number int
}

// Branching is how many transitions a state has, on average.
func (s *Space) Branching() float64 {
	if s.States == s.Queue {
		return 0
	}
	return float64(s.Transitions) / float64(s.States-s.Queue)
}

// cardSpace is the card's text about the space.
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
