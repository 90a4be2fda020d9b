package draw

import (
	"testing"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestOutside: the cause of a violation by external clients says what the client asked, what it concluded from the
// answer, and what contradicted that.
func TestOutside(t *testing.T) {
	trace := &scenario.Trace{Scenario: scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs"}}, Clients: make([]scenario.Client, 2)}}
	trace.History = history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{1}, Clients: 2}
	step := func(c uint8, do scenario.ActionKind, command, reply string, op lock.Op, held bool) {
		s := scenario.TraceStep{Action: scenario.Action{Kind: do, Client: c}, Command: command, Reply: reply, Resource: command, First: len(trace.History.Events)}
		if op != lock.NoOp {
			e := history.Event{Process: int32(c), F: history.F(op), Slot: 1}
			trace.History.Events = append(trace.History.Events, e)
			e.Type, e.Held = history.OK, held
			trace.History.Events = append(trace.History.Events, e)
			s.Events = 2
		}
		trace.Steps = append(trace.Steps, s)
	}
	step(1, scenario.Step, "declare jobs exclusive", "ok", lock.Acquire, true)
	step(1, scenario.Drop, "", "", lock.NoOp, false)
	step(2, scenario.Step, "declare jobs exclusive", "405 RESOURCE_LOCKED", lock.Acquire, true)
	step(1, scenario.Step, "", "", lock.Verify, true)
	step(1, scenario.Step, "DEL jobs", "1", lock.Release, false)
	step(1, scenario.Step, "SET jobs", "OK", lock.Acquire, true)
	trace.Steps[2].Exchange.Result = backend.Refused
	for _, c := range []struct {
		p               property.Property
		client          uint8
		step            int
		cause, expected string
	}{
		{property.MutualExclusion, 2, 2,
			"c2's acquire was refused at step 3 (declare jobs exclusive → 405 RESOURCE_LOCKED) and said at step 3 that it holds the lock, though c1 had been told so at step 1.",
			"c2's acquire says that somebody has the lock."},
		{property.StaleBeliefEnds, 1, 3,
			"c1's verify asked the broker nothing and said at step 4 that it holds the lock, though its connection had ended at step 2 and c2 had been told so at step 3.",
			`c1's verify says "not held".`},
		{property.MutualExclusion, 1, 5,
			"c1's release sent DEL jobs → 1 at step 5, and then c1's acquire relied on SET jobs → OK at step 6 and said at step 6 that it holds the lock, though c2 had been told so at step 3.",
			"c1's release leaves alone what c2 holds."},
		{property.NoLeak, 1, 3, "c1: it was so.", ""},
	} {
		v := scenario.Violation{Step: c.step}
		v.Property, v.Client, v.Kind, v.Detail = c.p, c.client, lock.Mutex, "it was so"
		if cause := Cause(trace, v); cause != c.cause {
			t.Errorf("%s: the cause is\n%s\nexpected\n%s", c.p, cause, c.cause)
		}
		if expected := Expected(trace, v); expected != c.expected {
			t.Errorf("%s: expected %q, got %q", c.p, c.expected, expected)
		}
	}
}
