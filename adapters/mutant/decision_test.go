package mutant

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// watched is a mutant that notes where it does something else than the reference: after how many replies.
type watched struct {
	*variant
	replies *int
	starts  *[]int // after how many replies, where it does so as it begins an operation
	acts    *[]int
}

// compare carries out a part of an operation, and notes whether the reference would have come to something else.
func compare(m *lock.Machine, at int, acts *[]int, mutant, reference func(*lock.Machine)) {
	other := *m
	reference(&other)
	mutant(m)
	if *m != other {
		*acts = append(*acts, at)
	}
}

func (w watched) Start(m *lock.Machine, op lock.Op, arg uint8) {
	compare(m, *w.replies, w.starts, func(m *lock.Machine) { w.variant.Start(m, op, arg) }, func(m *lock.Machine) { w.Protocol.Start(m, op, arg) })
}

func (w watched) Choose(m *lock.Machine, i int) {
	compare(m, *w.replies+1, w.acts, func(m *lock.Machine) { w.variant.Choose(m, i) }, func(m *lock.Machine) { w.Protocol.Choose(m, i) })
}

func (w watched) Apply(m *lock.Machine, r amqp.Reply) {
	*w.replies++
	if w.variant.Next(m) != w.Protocol.Next(m) {
		*w.acts = append(*w.acts, *w.replies)
	}
	compare(m, *w.replies, w.acts, func(m *lock.Machine) { w.variant.Apply(m, r) }, func(m *lock.Machine) { w.Protocol.Apply(m, r) })
}

// acting are the steps of an execution, from 1, in which a mutant with hooks does something else than the reference.
func acting(t *testing.T, target *lock.Target, s *scenario.Scenario) (*scenario.Trace, []int) {
	t.Helper()
	var replies int
	var starts, acts, steps []int
	copied := *target
	copied.Variant = func(p *lock.Protocol) lock.Implementation {
		return watched{target.Variant(p).(*variant), &replies, &starts, &acts}
	}
	var r sim.Runner
	trace := r.Trace(&copied, s, 0)
	at := 0
	for _, taken := range trace.Setup {
		if taken.Action.Client > 0 {
			at++
		}
	}
	for i, taken := range trace.Steps {
		begins := slices.ContainsFunc(trace.History.Events[taken.First:taken.First+taken.Events], func(e history.Event) bool { return e.Type == history.Invoke })
		if begins && slices.Contains(starts, at) {
			steps = append(steps, i+1)
		}
		if taken.Command.Method == amqp.NoMethod || taken.Action.Kind == scenario.CrashEffect {
			continue
		}
		at++
		if slices.Contains(acts, at) {
			steps = append(steps, i+1)
		}
	}
	if at != replies {
		t.Errorf("%s: %d replies in the trace, %d read", target.Name, at, replies)
	}
	return trace, steps
}

// undecided are the mutants of whose counterexample the step at which the bug acts is not found, and why.
var undecided = map[string]string{
	"claim-unseen":            "the step after it is marked, in which it claims what it has not looked at",
	"persistent-mutex-unseen": "it acts by not looking at the lock",
	"retries-forever":         "the refusal is marked after which it should have given up, once its channel was mended",
	"slots-exclusive":         "it acts as the slots are declared, in a step that its client does not live to see",
	"verify-twice":            "it acts by looking once more",
}

// TestDecision: of the counterexamples of mutants whose bug acts at some steps, and not in how they are set, the step
// that is marked as the one that decided is one of those; where none is marked, that at which the violation shows is.
func TestDecision(t *testing.T) {
	files, err := filepath.Glob("../../testdata/counterexamples/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		ce, err := histories.LoadCounterexample(file)
		if err != nil {
			t.Fatal(err)
		}
		target := Named(ce.Scenario.Target)
		if target.Variant == nil {
			continue
		}
		trace, steps := acting(t, target, &ce.Scenario)
		i := slices.IndexFunc(trace.Violations, func(v scenario.Violation) bool { return v.Property == ce.Property })
		if i < 0 {
			t.Fatalf("%s is not violated", file)
		}
		v := trace.Violations[i]
		marked := cmp.Or(draw.Decision(trace, v), v.Step+1)
		if _, known := undecided[target.Name]; known == slices.Contains(steps, marked) {
			t.Errorf("%s: step %d is marked, that of %s is %d, and the bug acts at %v", target.Name, marked, v.Property, v.Step+1, steps)
		}
	}
}
