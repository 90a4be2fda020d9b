package search

import "testing"

// TestDroppedMemoryIsEmpty: slots read as zero after dropSlots.
func TestDroppedMemoryIsEmpty(t *testing.T) {
	s := newSlots(1 << 12)
	defer freeSlots(s)
	for i := range s {
		s[i] = 1
	}
	dropSlots(s)
	for i, v := range s {
		if v != 0 {
			t.Fatalf("%d is still there at %d", v, i)
		}
	}
}
