package draw

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// command is the step's command in the backend's words: "declare jobs-1-B exclusive"; "" if it sent nothing.
func command(s *scenario.TraceStep) string { return style.Printable(s.Command) }

// invocationWords describes a call: "acquire", "add 2", "wait 3".
func invocationWords(e history.Event, kind lock.Kind) string {
	switch op := e.F.Op(); {
	case op == lock.Acquire && e.Priority > 0:
		return fmt.Sprintf("acquire with priority %d", e.Priority)
	case op == lock.Acquire && e.Shared:
		return "acquire to read"
	case op == lock.Acquire && e.Permits > 0 && e.Slots > 0:
		return fmt.Sprintf("acquire %s of %d", style.Plural(int(e.Permits), "permit"), e.Slots)
	case op == lock.Acquire && e.Slots > 0:
		return fmt.Sprintf("acquire with limit %d", e.Slots)
	case kind != lock.Semaphore: // only a semaphore has several slots, so a slot's number says nothing
	case op == lock.Create, op == lock.Add, op == lock.Remove:
		return fmt.Sprintf("%s %d", e.F, e.Slots)
	case op == lock.Wait:
		return fmt.Sprintf("wait %d", e.Slot)
	}
	return e.F.String()
}

// completionWords describes a result: "holds 1", "full", "not held", "3 slots", "unknown: timed-out".
func completionWords(e history.Event, kind lock.Kind) string {
	reason := e.Reason.Of(kind)
	switch {
	case e.Type == history.Info:
		return strings.TrimSuffix("unknown: "+reason, ": ")
	case e.Type == history.Fail && e.Reason == lock.NoReason:
		return "failed"
	case e.Type == history.Fail:
		return reason
	}
	switch e.F.Op() {
	case lock.Acquire:
		if e.Held {
			return strings.TrimSpace("holds "+slotWord(e.Slot, kind)) + tokenWords(e.Token)
		}
		return "not held"
	case lock.Verify, lock.Refresh:
		if e.Held {
			return "held"
		}
		return strings.TrimSuffix("not held: "+reason, ": ")
	case lock.Count:
		if kind != lock.Semaphore {
			return fmt.Sprint(e.Slots)
		}
		return style.Plural(int(e.Slots), "slot")
	}
	return "ok"
}

// errorWords quotes a client's message about a failed call, with control characters escaped.
func errorWords(t *scenario.Trace, e history.Event, said string) string {
	return fmt.Sprintf("c%d says of %s: %q", clientOf(e, t.Clients()), e.F, said)
}

// maxErrors is the largest number of errors printed below the diagram of an execution.
const maxErrors = 3

// Errors lists the clients' messages about failed calls in an execution. A client's message is listed only once, with
// the step where it first occurred.
func Errors(t *scenario.Trace) (all []string) {
	seen := make(map[string]bool)
	for _, i := range slices.Sorted(maps.Keys(t.Errors)) {
		if said := t.Errors[i]; !seen[said] && len(all) < maxErrors {
			seen[said] = true
			all = append(all, fmt.Sprintf("%s (step %d)", errorWords(t, t.History.Events[i], said), t.StepOf(i)+1))
		}
	}
	return all
}

// slotWord is a slot's number in words; "" if the slot has no number.
func slotWord(slot uint16, kind lock.Kind) string {
	if slot == history.AnySlot || kind != lock.Semaphore {
		return ""
	}
	return fmt.Sprint(slot)
}

// tokenWords names the fencing token of a grant; "" if the grant has none.
func tokenWords(token int64) string {
	if token == 0 {
		return ""
	}
	return fmt.Sprintf(", token %d", token)
}

// actionWords describes an action that is not a client's command, such as a crash, a restart or the passage of time.
func actionWords(a scenario.Action, w lock.Words) string {
	the := w.The()
	late := ""
	if a.Late {
		late = "; " + the + " does not notice"
	}
	switch a.Kind {
	case scenario.CrashBefore:
		return fmt.Sprintf("c%d crashes%s", a.Client, late)
	case scenario.CrashEffect:
		return fmt.Sprintf("c%d crashes before the reply%s", a.Client, late)
	case scenario.CrashReply:
		return fmt.Sprintf("c%d crashes after the reply%s", a.Client, late)
	case scenario.Lose:
		return "the reply is lost" + late
	case scenario.Detect:
		return fmt.Sprintf("%s notices that c%d's old connection is dead", the, a.Client)
	case scenario.Drop:
		switch a.Arg {
		case 0:
		case 1:
			return fmt.Sprintf("%s drops the connection that c%d used last; c%d does not know", the, a.Client, a.Client)
		case 2:
			return fmt.Sprintf("%s drops the connection that c%d used before the last; c%d does not know", the, a.Client, a.Client)
		default:
			return fmt.Sprintf("%s drops the connection that c%d used last but %d; c%d does not know", the, a.Client, a.Arg-1, a.Client)
		}
		return fmt.Sprintf("%s drops c%d's connection; c%d does not know", the, a.Client, a.Client)
	case scenario.ChannelError:
		return fmt.Sprintf("%s closes c%d's channel; c%d does not know", the, a.Client, a.Client)
	case scenario.Pause:
		return fmt.Sprintf("c%d stands still for %d ms", a.Client, a.Arg)
	case scenario.Advance:
		if a.Arg == 0 {
			return "time passes until somebody goes on"
		}
		return fmt.Sprintf("%d ms pass", a.Arg)
	case scenario.Idle:
		return fmt.Sprintf("%d s pass in which nobody does anything", a.Arg)
	case scenario.Audit:
		if a.Client == 0 {
			return "faults end, and all that is under way"
		}
		return ""
	case scenario.Restart:
		if w.Restarted != "" {
			return the + " restarts: " + w.Restarted
		}
		return the + " restarts"
	case scenario.ClockAhead:
		return fmt.Sprintf("c%d's clock jumps %d ms ahead", a.Client, a.Arg)
	case scenario.ClockBehind:
		return fmt.Sprintf("c%d's clock jumps %d ms back", a.Client, a.Arg)
	case scenario.ClockFast:
		return fmt.Sprintf("c%d's clock is fast by %d ‰ from now on", a.Client, a.Arg)
	case scenario.ClockSlow:
		return fmt.Sprintf("c%d's clock is slow by %d ‰ from now on", a.Client, a.Arg)
	case scenario.Stall:
		return "the reply waits"
	case scenario.Arrive:
		return fmt.Sprintf("what has waited for c%d arrives", a.Client)
	case scenario.Choose:
		return fmt.Sprintf("c%d chooses: way %d", a.Client, a.Arg)
	}
	return ""
}

// stateWords describes the broker's state of a lock, slot by slot, such as "1:A B←c2", "2:A". A missing slot below an
// existing one is a hole, "2:–". A B queue without an exclusive owner has no arrow.
func stateWords(t *monitor.Truth, kind lock.Kind) []string {
	var parts []string
	for slot := 1; slot <= monitor.Slots; slot++ {
		exists, taken := t.Exists>>slot&1 == 1, t.Taken>>slot&1 == 1
		if !exists && !taken && (t.Exists|t.Taken)>>slot == 0 {
			break
		}
		parts = append(parts, slotState(slot, exists, taken, t.Owner[slot], kind))
	}
	if t.Admin != 0 {
		parts = append(parts, "admin←"+OwnerName(t.Admin))
	}
	if len(parts) == 0 {
		if kind != lock.Semaphore {
			return []string{"not there"}
		}
		parts = append(parts, "no slots")
	}
	return parts
}

// OwnerName names the client that owns a queue; a dagger marks a half-open connection.
func OwnerName(owner uint8) string {
	if owner&monitor.HalfOpen != 0 {
		return clientName(int(owner&^monitor.HalfOpen)) + "†"
	}
	return clientName(int(owner))
}

func slotState(slot int, exists, taken bool, owner uint8, kind lock.Kind) string {
	holder := ""
	if owner != 0 {
		holder = "←" + OwnerName(owner)
	}
	switch {
	case kind != lock.Semaphore && slot == 1:
		return mutexState(exists || kind == lock.Mutex, taken, holder)
	case exists && taken:
		return fmt.Sprintf("%d:A B%s", slot, holder)
	case taken:
		return fmt.Sprintf("%d:B%s", slot, holder)
	case exists:
		return fmt.Sprintf("%d:A", slot)
	}
	return fmt.Sprintf("%d:–", slot)
}

// mutexState describes a mutex: "free", "held", "gone", or "gone, held" if it was destroyed while a client held it.
func mutexState(exists, taken bool, holder string) string {
	switch {
	case taken && !exists:
		return "gone, held" + holder
	case taken:
		return "held" + holder
	case exists:
		return "free"
	}
	return "gone"
}
