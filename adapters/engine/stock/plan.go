package stock

import (
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// On stock servers a lease lasts one second. This is the shortest lease of libraries that count in seconds. The pauses
// of an execution are shortened in proportion.
const (
	lease  = time.Second
	faster = foreign.LeaseTime / lease
	// longest is the maximum length of one pause: slightly more than two leases.
	longest = 2*lease + lease/4
)

// action is one thing that happens in a round.
type action struct {
	kind   actionKind
	client int // number of the client in the scenario, from 1
	op     lock.Op
	lock   int // index of the lock in the scenario
	limit  int
	sleep  time.Duration
}

type actionKind uint8

const (
	begins  actionKind = iota // a client calls an operation
	returns                   // the round waits until the client's operation returns
	crashes                   // a client is killed, whatever it is doing, and replaced
	passes                    // the round waits for the duration sleep
)

// plan returns the actions of a round: the events of an execution, as far as clients can repeat them. For a violation
// of safety it ends with the violating step; otherwise it ends where the audit begins.
func plan(t *scenario.Trace, v *scenario.Violation) (all []action) {
	clients, before, events := int32(len(t.Scenario.Clients)), int64(0), t.History.Events
	if safety.Has(v.Property) && v.Step < len(t.Steps) {
		events = events[:min(len(events), int(t.Steps[v.Step].First+t.Steps[v.Step].Events))]
	}
	for _, e := range events {
		if e.F == history.Audit && !safety.Has(v.Property) {
			break
		}
		if gap := time.Duration(e.Time-before) / time.Duration(faster); gap > lease/10 {
			all = append(all, action{kind: passes, sleep: min(gap, longest)})
		}
		before = max(before, e.Time)
		if a, ok := actionOf(e, clients); ok {
			all = append(all, a)
		}
	}
	return all
}

// actionOf converts an event to an action. It returns false for an event that a client cannot cause.
func actionOf(e history.Event, clients int32) (action, bool) {
	if e.F == history.Crash {
		return action{kind: crashes, client: int(e.Target)}, true
	}
	if e.F.Occurrence() || e.Process < 1 || clients == 0 {
		return action{}, false
	}
	a := action{client: int((e.Process-1)%clients + 1), op: e.F.Op(), lock: int(e.Lock), limit: int(e.Slots)}
	switch a.op {
	case lock.Acquire, lock.Verify, lock.Release:
	default:
		return action{}, false
	}
	if e.Type != history.Invoke {
		a.kind = returns
	}
	return a, true
}
