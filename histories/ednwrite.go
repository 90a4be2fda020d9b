package histories

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// WriteEDN writes a history as Jepsen's EDN, one event in each line. EDN has no header, so the description of the locks
// is left out.
func WriteEDN(w io.Writer, h *history.History) error {
	out := bufio.NewWriterSize(w, 1<<16)
	for i := range h.Events {
		e := &h.Events[i]
		process, f := fmt.Sprint(e.Process), ":"+e.F.String()
		if e.Process == history.Nemesis {
			process, f = ":nemesis", ":"+namespace+e.F.String()
		}
		more := ""
		if e.Reason != lock.NoReason {
			more += ", :error :" + e.Reason.String()
		}
		if len(h.Locks) > 1 && e.Process != history.Nemesis {
			more += ", :lock " + quotedEDN(h.Locks[e.Lock])
		}
		// An error of writing is returned by Flush below.
		fmt.Fprintf(out, "{:index %d, :type :%s, :process %s, :f %s, :value %s, :time %d%s}\n",
			i, e.Type, process, f, ednValue(e), e.Time, more)
	}
	return out.Flush()
}

func ednValue(e *history.Event) string {
	var parts []string
	has := valueOf(e)
	if has&hasSlot != 0 {
		parts = append(parts, fmt.Sprintf(":slot %d", e.Slot))
	}
	if has&hasSlots != 0 {
		parts = append(parts, fmt.Sprintf(":slots %d", e.Slots))
	}
	if has&hasPermits != 0 {
		parts = append(parts, fmt.Sprintf(":permits %d", e.Permits))
	}
	if has&hasMode != 0 {
		parts = append(parts, ":mode :read")
	}
	if has&hasPriority != 0 {
		parts = append(parts, fmt.Sprintf(":priority %d", e.Priority))
	}
	if has&hasHeld != 0 {
		parts = append(parts, fmt.Sprintf(":held %t", e.Held))
	}
	if has&hasToken != 0 {
		parts = append(parts, fmt.Sprintf(":token %d", e.Token))
	}
	if has&hasClient != 0 {
		parts = append(parts, fmt.Sprintf(":client %d", e.Target))
	}
	if has&hasNodes != 0 {
		parts = append(parts, fmt.Sprintf(":nodes %v", e.Nodes.List()))
	}
	if has&hasTo != 0 {
		parts = append(parts, fmt.Sprintf(":to %v", e.To.List()))
	}
	if parts == nil {
		return "nil"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func quotedEDN(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `"`
}
