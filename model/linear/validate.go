package linear

import (
	"fmt"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Malformed is the error for a history that is not well-formed.
type Malformed struct {
	Event    int    // index of the wrong event; -1 if the history as a whole is wrong
	What     string // what was found
	Expected string // what was expected
}

// Error implements error.
func (m *Malformed) Error() string {
	if m.Event < 0 {
		return fmt.Sprintf("%s: expected %s", m.What, m.Expected)
	}
	return fmt.Sprintf("event %d: %s: expected %s", m.Event, m.What, m.Expected)
}

// Validate checks that a history is well-formed. Each process must alternate between invocations and completions, and
// occurrences must be events of the nemesis. The error is a [*Malformed].
func Validate(h *history.History) error {
	if err := new(normaliser).normalise(h, noLock, Options{}); err != nil {
		return err
	}
	return nil
}

// noLock is the lock number for checking only that a history is well-formed.
const noLock = -1

// checkShape checks the numbers of locks, slots and events of a history.
func checkShape(h *history.History) *Malformed {
	switch {
	case len(h.Slots) != len(h.Locks):
		return &Malformed{-1, fmt.Sprintf("%d locks with %d numbers of slots", len(h.Locks), len(h.Slots)), "one number for each lock"}
	case len(h.Events) >= endless:
		return tooLong(len(h.Events))
	}
	for l, n := range h.Slots {
		if n < 0 || n > maxHistorySlots {
			return &Malformed{-1, fmt.Sprintf("lock %q has %d slots", h.Locks[l], n), fmt.Sprintf("0 to %d", maxHistorySlots)}
		}
	}
	return nil
}

func tooLong(events int) *Malformed {
	return &Malformed{-1, fmt.Sprintf("%d events", events), "fewer than two thousand million"}
}

// maxHistorySlots is the largest number of slots in a history.
const maxHistorySlots = 1<<16 - 1

// checkEvent checks one event, independently of other events.
func checkEvent(h *history.History, i int32, e *history.Event) *Malformed {
	if e.F >= history.Crash {
		if !e.F.Occurrence() {
			return &Malformed{int(i), fmt.Sprintf("number %d", e.F), "an operation or an occurrence"}
		}
		if e.Process != history.Nemesis || e.Type != history.Info {
			return &Malformed{int(i), fmt.Sprintf("%s by process %d", e.F, e.Process), "an occurrence to be the nemesis's, and info"}
		}
		return nil
	}
	switch {
	case e.F.Op() == lock.NoOp || e.F.Op() > lock.Refresh:
		return &Malformed{int(i), fmt.Sprintf("number %d", e.F), "an operation or an occurrence"}
	case e.Process < 0:
		return &Malformed{int(i), fmt.Sprintf("%s by process %d", e.F, e.Process), "operations to be a client's"}
	case int(e.Lock) >= len(h.Locks):
		return &Malformed{int(i), fmt.Sprintf("lock %d", e.Lock), fmt.Sprintf("one of the %d locks", len(h.Locks))}
	case e.Type > history.Info:
		return &Malformed{int(i), fmt.Sprintf("type %d", e.Type), "invoke, ok, fail or info"}
	case e.Type == history.OK && e.F == history.F(lock.Acquire) && !e.Held:
		return &Malformed{int(i), "an acquire that is ok but not held", "fail, with its reason, where the answer was no"}
	}
	return nil
}

// unexpected is the error for a completion without a matching invocation, or for an invocation while another operation
// is under way.
func unexpected(i int32, e *history.Event, c *client) *Malformed {
	what := fmt.Sprintf("c%d's %s %s", e.Process, e.F, e.Type)
	if c.inv == none {
		return &Malformed{int(i), what, "an invocation before its completion"}
	}
	return &Malformed{int(i), what, fmt.Sprintf("first the completion of its %s of event %d", c.f, c.inv)}
}
