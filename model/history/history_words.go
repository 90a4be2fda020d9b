package history

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/property"
)

// Who is the name of a process in texts: that of its client, such as c2, if the number of clients is known.
func (h *History) Who(process int32) string {
	if process >= 0 && int(process) < len(h.Called) {
		return h.Called[process]
	}
	if h.Clients > 0 && process > 0 {
		process = int32(ClientOf(process, h.Clients))
	}
	return fmt.Sprintf("c%d", process)
}

// Moment says in words when an event happened, such as "step 5", or "event 3" if no step is known.
func (h *History) Moment(event int) string {
	if step := h.stepOf(event); step > 0 {
		return fmt.Sprintf("step %d", step)
	}
	if event >= 0 && event < len(h.Places) {
		return h.Places[event]
	}
	return fmt.Sprintf("event %d", event)
}

// Moments says in words when two events happened, such as "steps 2 to 5".
func (h *History) Moments(from, to int) string {
	first, last := h.stepOf(from), h.stepOf(to)
	switch {
	case h.Places != nil && h.Moment(from) == h.Moment(to):
		return h.Moment(to)
	case h.Places != nil:
		return between(h.Moment(from), h.Moment(to))
	case first == 0 || last == 0:
		return fmt.Sprintf("events %d to %d", from, to)
	case first == last:
		return fmt.Sprintf("step %d", first)
	}
	return fmt.Sprintf("steps %d to %d", first, last)
}

// stepOf is the step of an event; 0 if unknown.
func (h *History) stepOf(event int) int32 {
	if event < 0 || event >= len(h.Steps) {
		return 0
	}
	return h.Steps[event]
}

// SlotName is [property.SlotName] for the history's type of lock.
func (h *History) SlotName(slot uint16) string { return property.SlotName(h.Kind, int(slot)) }

// between is the time between two moments; their file is named once if it is the same.
func between(from, to string) string {
	first, file, ok := strings.Cut(from, " of ")
	last, same, _ := strings.Cut(to, " of ")
	if ok && file == same && strings.HasPrefix(first, "event ") && strings.HasPrefix(last, "event ") {
		return "events" + strings.TrimPrefix(first, "event") + " to" + strings.TrimPrefix(last, "event") + " of " + file
	}
	return from + " to " + to
}
