package mutant

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// watched runs a mutant and the reference on the same replies. It records the commands, by number, at which the two
// behave differently.
type watched struct {
	amqplock.Implementation
	reference *amqplock.Protocol
	*parting
}

// parting records where a mutant and the reference behave differently. Commands are numbered from 1 in the order in
// which clients send them.
type parting struct {
	commands int
	starts   []int // numbers of commands after which an operation begins differently
	acts     []int // numbers of commands that differ, or whose replies lead to different states
	// others has, for machines of the mutant, the state that the reference would have after the same commands and
	// replies. It has only the machines whose two states differ.
	others map[*amqplock.Machine]amqplock.Machine
}

// compare runs one step of a machine in the mutant and in the reference. at is the number of the step's command. If the
// resulting states differ, compare adds this number to acts.
func (w watched) compare(m *amqplock.Machine, at int, acts *[]int, mutant, reference func(*amqplock.Machine)) {
	here := *m
	reference(&here)
	other, parted := w.others[m]
	if parted {
		reference(&other)
	} else {
		other = here
	}
	mutant(m)
	if *m != here {
		*acts = append(*acts, at)
	}
	w.others[m] = other
	if *m == other {
		delete(w.others, m)
	}
}

func (w watched) Start(m *amqplock.Machine, op lock.Op, arg uint8) {
	delete(w.others, m)
	w.compare(m, w.commands, &w.starts, func(m *amqplock.Machine) { w.Implementation.Start(m, op, arg) }, func(m *amqplock.Machine) { w.reference.Start(m, op, arg) })
}

func (w watched) Choose(m *amqplock.Machine, i int) {
	w.compare(m, w.commands+1, &w.acts, func(m *amqplock.Machine) { w.Implementation.Choose(m, i) }, func(m *amqplock.Machine) { w.reference.Choose(m, i) })
}

func (w watched) Next(m *amqplock.Machine) amqp.Command {
	w.commands++
	c := w.Implementation.Next(m)
	other, parted := w.others[m]
	if !parted {
		other = *m
	}
	if other.Idle() || w.reference.Choices(&other) > 0 || w.reference.Next(&other) != c {
		w.acts = append(w.acts, w.commands)
		delete(w.others, m) // the reference would send another command here, so it cannot handle the reply to c
	}
	return c
}

func (w watched) Apply(m *amqplock.Machine, r amqp.Reply) {
	w.compare(m, w.commands, &w.acts, func(m *amqplock.Machine) { w.Implementation.Apply(m, r) }, func(m *amqplock.Machine) { w.reference.Apply(m, r) })
}

// acting returns the trace of an execution, and the numbers, from 1, of the steps in which the mutant acts differently
// from the reference in the same state. If the reference's execution on the same schedule differs even earlier, that
// step is added.
func acting(t *testing.T, target *lock.Target, s *scenario.Scenario) (*scenario.Trace, []int) {
	t.Helper()
	p := parting{others: make(map[*amqplock.Machine]amqplock.Machine)}
	copied := *target
	design := amqplock.DesignOf(target)
	copied.Design = amqplock.Design{Naming: design.Naming, Variant: func(protocol *amqplock.Protocol) amqplock.Implementation {
		w := watched{protocol, protocol, &p}
		if design.Variant != nil {
			w.Implementation = design.Variant(protocol)
		} else {
			w.reference = &amqplock.Protocol{Kind: target.Kind, Options: amqplock.Table.Of(unfixed(target, amqplock.Table.Options(protocol.Options))), Layout: protocol.Layout}
		}
		return w
	}}
	var r sim.Runner
	trace := r.Trace(&copied, s, 0)
	var steps []int
	at := 0
	for _, taken := range trace.Setup {
		if taken.Action.Client > 0 {
			at++
		}
	}
	for i, taken := range trace.Steps {
		begins := slices.ContainsFunc(trace.History.Events[taken.First:taken.First+taken.Events], func(e history.Event) bool { return e.Type == history.Invoke })
		if begins && slices.Contains(p.starts, at) {
			steps = append(steps, i+1)
		}
		if taken.Command == "" {
			continue
		}
		if at++; slices.Contains(p.acts, at) {
			steps = append(steps, i+1)
		}
	}
	if at != p.commands {
		t.Errorf("%s: %d commands in the trace, %d sent", target.Name, at, p.commands)
	}
	if at := worldsPart(target, s, trace); at > 0 && (len(steps) == 0 || at < steps[0]) {
		steps = append(steps, at)
	}
	return trace, steps
}

// unfixed are the options o without those that the target's Fix sets: these have their default values.
func unfixed(target *lock.Target, o lock.Options) lock.Options {
	usual := o.Defaults()
	for _, fixed := range target.Settled(usual).Changed() {
		var err error
		if o, err = o.With(fixed[0], usual.Value(fixed[0])); err != nil {
			panic(err)
		}
	}
	return o
}

// worldsPart returns the first step of the trace, from 1, at which the reference's execution on the same schedule
// differs: in the queue, the reply, the events or the existing queues. 0 means that the executions are equal.
func worldsPart(target *lock.Target, s *scenario.Scenario, trace *scenario.Trace) int {
	reference := &lock.Target{Name: "reference", Kind: target.Kind}
	other := s.Clone()
	if amqplock.DesignOf(target).Variant != nil {
		reference.Fix = target.Fix
	} else {
		other.Options = unfixed(target, target.Settled(s.Options))
	}
	var a, b sim.Runner
	theirs := b.Trace(reference, &other, 0)
	a.Begin(target, s)
	b.Begin(reference, &other)
	for i := range trace.Steps {
		do := trace.Steps[i].Action
		if !b.Can(do) {
			return i + 1
		}
		a.Do(do)
		b.Do(do)
		ours, other := &trace.Steps[i], &theirs.Steps[i]
		switch {
		case amqplock.DesignOf(target).Naming != nil && shared(target, s, ours.Resource):
			return i + 1
		case ours.Reply != other.Reply || ours.Resource != other.Resource:
			return i + 1
		case !slices.EqualFunc(a.Resources(), b.Resources(), alike) || !slices.Equal(a.History().Events, b.History().Events):
			return i + 1
		}
	}
	return 0
}

// shared reports whether a queue name belongs to several of a scenario's locks.
func shared(target *lock.Target, s *scenario.Scenario, queue string) bool {
	locks := 0
	for _, l := range s.Locks {
		var names amqp.Names
		amqplock.LayoutOf(target, &names, l.Name, int(l.Slots)+1)
		for q := range names.Len() {
			if names.Name(amqp.Queue(q+1)) == queue {
				locks++
				break
			}
		}
	}
	return locks > 1
}

// alike reports whether two queues have the same name and content. Their owners may differ.
func alike(a, b sim.Resource) bool { return a.Name == b.Name && a.Content == b.Content }

// TestDecision: in each mutant's counterexample, the mutant must act differently from the reference in the step that
// reports mark as decisive. If no step is marked, it must do so in the step that shows the violation. The texts about
// the cause are compared with a file.
func TestDecision(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/counterexamples/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < len(All) {
		t.Errorf("%d counterexamples of %d mutants", len(files), len(All))
	}
	var causes strings.Builder
	for _, file := range files {
		ce, err := histories.LoadCounterexample(file)
		if errors.Is(err, lock.ErrUnknownBackend) {
			continue // the lock is on another kind of server
		}
		if err != nil {
			t.Fatal(err)
		}
		target := Named(ce.Scenario.Target)
		trace, steps := acting(t, target, &ce.Scenario)
		i := slices.IndexFunc(trace.Violations, func(v scenario.Violation) bool { return v.Property == ce.Property })
		if i < 0 {
			t.Fatalf("%s is not violated", file)
		}
		v := trace.Violations[i]
		marked := cmp.Or(draw.Decision(trace, v), v.Step+1)
		if !slices.Contains(steps, marked) {
			t.Errorf("%s: step %d is marked, that of %s is %d, and the bug acts at %v", target.Name, marked, v.Property, v.Step+1, steps)
		}
		expected := draw.Expected(trace, v)
		if expected == "" {
			t.Errorf("%s: nothing is said of what was expected", target.Name)
		}
		explained(t, target.Name, strings.Join(draw.Transcript(trace), "\n"))
		fmt.Fprintf(&causes, "%s: %s\n  %s\n  expected: %s\n", target.Name, target.Doc, draw.Cause(trace, v), expected)
	}
	historiestest.Golden(t, "causes.txt", causes.String())
}

// answers matches the broker's codes and other words in capitals, such as 405 RESOURCE_LOCKED.
var answers = regexp.MustCompile(`\b(?:\d{3} )?[A-Z]+(?:_[A-Z]+)+\b`)

// explained checks that the glossary explains each of the broker's codes in the text of an execution.
func explained(t *testing.T, name, text string) {
	t.Helper()
	known := make(map[string]bool)
	for _, term := range draw.Glossary(text, lock.Semaphore) {
		known[term.Word] = true
	}
	for _, word := range answers.FindAllString(text, -1) {
		if !known[word] {
			t.Errorf("%s: nothing says what %s means", name, word)
		}
	}
}

// TestSharedAdministration: if two administrators share a connection, both have the administration mutex. The cause in
// the report must say so, and not that neither had taken the mutex.
func TestSharedAdministration(t *testing.T) {
	var r sim.Runner
	target := Named("one-connection")
	source := sim.NewSource(sim.Space{Target: target}, 1)
	told := 0
	for i := range 400 {
		s := source.Scenario(i)
		trace := r.Trace(target, &s, 0)
		for _, v := range trace.Violations {
			if v.Property != property.AdminExclusion {
				continue
			}
			cause := draw.Cause(trace, v)
			if strings.Contains(cause, "neither had taken") {
				t.Errorf("execution %d: %s\n%s", i, cause, strings.Join(draw.Transcript(trace), "\n"))
			}
			if strings.Contains(cause, "share one connection, to which it is exclusive") {
				told++
			}
		}
	}
	if told == 0 {
		t.Error("it is never said that they share a connection")
	}
}
