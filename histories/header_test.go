package histories

import "testing"

// TestHeaderBounds: a header may have the largest permitted number of slots and of clients, and not one more.
func TestHeaderBounds(t *testing.T) {
	for _, c := range []struct {
		slots, clients int
		right          bool
	}{
		{maxSlot, MaxProcess, true}, {0, 0, true}, {maxSlot + 1, 0, false}, {-1, 0, false}, {0, MaxProcess + 1, false}, {0, -1, false},
	} {
		h := Header{Locks: []Named{{Name: "jobs", Slots: c.slots}}, Clients: c.clients}
		if err := h.check(); (err == nil) != c.right {
			t.Errorf("%d slots, %d clients: %v", c.slots, c.clients, err)
		}
	}
}
