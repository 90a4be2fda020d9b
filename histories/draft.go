package histories

import (
	"fmt"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// draft is an event as written in a file, before it is checked.
type draft struct {
	event history.Event
	index int64
	has   part
	owner string // name of the client in an answer; "" if the answer has none
	host  string // name of the host that recorded the event; "" if unknown
	pid   int64  // process number of the recording program
}

// part is a set of the fields that were found in an event.
type part uint32

const (
	hasIndex part = 1 << iota
	hasType
	hasProcess
	hasF
	hasValue
	hasTime
	hasError
	hasLock
	hasSlot
	hasSlots
	hasHeld
	hasClient
	hasPriority
	hasToken
	hasNodes
	hasTo
	hasHost
	hasPID
	hasSession
	hasMono
	hasPermits
	hasMode
)

// act sets the event's operation (field f), or what occurred if the event is the nemesis's.
func (d *draft) act(a action) {
	d.event.F, d.event.Shared = a.f, d.event.Shared || a.shared
}

// fieldError is an error about a field of an event: what was found, and what was expected.
type fieldError struct {
	field, found, expected string
}

func (e *fieldError) Error() string {
	what := "found " + style.Printable(e.found) + ", expected " + e.expected
	if e.field == "" {
		return what
	}
	return e.field + ": " + what
}

func wrong(field, found, expected string, args ...any) error {
	return &fieldError{field, found, fmt.Sprintf(expected, args...)}
}

// MaxProcess is the largest process number in a history. Process numbers may be large, since Jepsen gives a client a
// new one after every operation with an unknown outcome.
const MaxProcess = 1<<24 - 1

// validator checks, event by event, that a history is well-formed. It refuses an event that cannot follow the earlier
// ones.
type validator struct {
	last int64       // index of the event before
	busy []history.F // by process: its operation under way; 0 if there is none
}

func newValidator() validator { return validator{last: minTime} }

// check returns an error if an event cannot follow the events that were checked before. It remembers the event's index,
// and the call of its process.
func (v *validator) check(d *draft) error {
	e := &d.event
	switch missing := (hasType | hasProcess | hasF) &^ d.has; {
	case missing&hasType != 0:
		return wrong("type", "nothing", "invoke, ok, fail or info")
	case missing&hasProcess != 0:
		return wrong("process", "nothing", "a client's number, or nemesis")
	case missing&hasF != 0:
		return wrong("f", "nothing", "an operation")
	}
	if d.has&hasIndex != 0 {
		if d.index <= v.last {
			return wrong("index", fmt.Sprint(d.index), "more than %d, the index before it", v.last)
		}
		v.last = d.index
	}
	if e.Process == history.Nemesis {
		return d.occurrence()
	}
	if err := d.operation(); err != nil {
		return err
	}
	return v.alternate(e)
}

// alternate checks that the events of a process are alternately invocations and completions.
func (v *validator) alternate(e *history.Event) error {
	for int(e.Process) >= len(v.busy) {
		v.busy = append(v.busy, make([]history.F, int(e.Process)+1)...)
	}
	calling := &v.busy[e.Process]
	switch {
	case e.Type == history.Invoke && *calling != 0:
		return wrong("type", "invoke", "ok, fail or info: process %d is still in %s", e.Process, *calling)
	case e.Type == history.Invoke:
		*calling = e.F
	case *calling == 0:
		return wrong("type", e.Type.String(), "invoke: process %d calls nothing", e.Process)
	case *calling != e.F:
		return wrong("f", e.F.String(), "%s, which process %d is in", *calling, e.Process)
	default:
		*calling = 0
	}
	return nil
}

// occurrence checks an event of the nemesis.
func (d *draft) occurrence() error {
	e := &d.event
	switch {
	case e.F < history.Crash:
		return wrong("f", e.F.String(), "crash, gone, lapse, pause, restart, audit, other or a fault of machines, since nemesis is no client")
	case e.Type != history.Info:
		return wrong("type", e.Type.String(), "info, since nemesis calls nothing")
	case e.F.Whose() && d.has&hasClient == 0:
		return wrong("value", "no client", "the client's number, as client")
	case e.F.Machine() && e.F != history.Heal && e.Nodes == 0:
		return wrong("value", "no nodes", "the numbers of nodes, as nodes")
	case e.F == history.Cut && e.To == 0:
		return wrong("value", "no nodes", "the numbers of the nodes that they are cut from, as to")
	}
	return nil
}

// operation checks that a client's event has every field that its operation needs.
func (d *draft) operation() error {
	e := &d.event
	op := e.F.Op()
	switch {
	case op == lock.NoOp:
		return wrong("f", e.F.String(), "an operation, since process %d is a client", e.Process)
	case d.has&(hasPermits|hasMode) != 0 && op != lock.Acquire && op != lock.Release:
		return wrong("value", "permits or a mode", "these only of an acquire or a release, not of %s", op)
	case e.Type == history.OK && op == lock.Acquire:
		// In Jepsen's histories, an ok acquire holds the lock without saying so.
		e.Held = e.Held || d.has&hasHeld == 0
	case e.Type == history.OK && (op == lock.Verify || op == lock.Refresh) && d.has&hasHeld == 0:
		return wrong("value", "no answer", "whether the lock is held, as held")
	case e.Type == history.OK && op == lock.Count && d.has&hasSlots == 0:
		return wrong("value", "no number", "the number counted, as slots")
	case e.Type == history.Invoke && op == lock.Wait && d.has&hasSlot == 0:
		return wrong("value", "no slot", "the slot that is waited for, as slot")
	case e.Type == history.Invoke && (op == lock.Create || op == lock.Add || op == lock.Remove) && d.has&hasSlots == 0:
		return wrong("value", "no number", "how many slots, as slots")
	}
	return nil
}
