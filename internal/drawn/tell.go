package drawn

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/history"
)

// Tell returns a history as text, one line per event.
func Tell(h *history.History) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v slots %v\n", h.Kind, h.Locks, h.Slots)
	for i, e := range h.Events {
		fmt.Fprintf(&b, "%3d  c%-3d %-6s %-8s slot %d slots %d held %v reason %q target %d\n",
			i, e.Process, e.Type, e.F, e.Slot, e.Slots, e.Held, e.Reason, e.Target)
	}
	return b.String()
}
