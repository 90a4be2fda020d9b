package states

import "testing"

// TestFull: Full returns true a little before the numbers for parts run out.
func TestFull(t *testing.T) {
	p := NewTable()
	for n, want := range map[uint32]bool{0: false, (1<<14 - 16) * chunkSize: false, (1<<14-16)*chunkSize + 1: true} {
		if p.n.Store(n); p.Full() != want || p.Len() != n {
			t.Errorf("with %d parts: full %v, %d", n, !want, p.Len())
		}
	}
}
