package recorded_test

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
)

// TestLoosenLegal takes histories recorded with one clock and widens their operations by a clock error. The histories
// must stay well-formed, and a linearizable one must stay linearizable.
func TestLoosenLegal(t *testing.T) {
	legal := 0
	for i := range 20000 {
		h := drawn.Pinned(9000, i, 40)
		if linear.Validate(h) != nil || h.GoneMayFree || changes(h) {
			continue
		}
		for k := range h.Events {
			h.Events[k].Time = int64(10 * k)
		}
		was := linear.Check(h, linear.Options{})
		for _, bound := range []int64{1, 15, 60} {
			loose, _, _ := history.Loosen(h, bound)
			if err := linear.Validate(loose); err != nil {
				t.Fatalf("history %d, bound %d: %v", i, bound, err)
			}
			if f := linear.Check(loose, linear.Options{}); was.Decision == linear.Legal && f.Decision == linear.Illegal {
				t.Fatalf("history %d, bound %d: %s", i, bound, f.Why)
			}
		}
		if was.Decision == linear.Legal {
			legal++
		}
	}
	if legal < 500 {
		t.Errorf("only %d histories are linearizable", legal)
	}
}

// changes reports whether operations of a history change or count slots. Such histories cannot be judged with a clock
// error.
func changes(h *history.History) bool {
	for i := range h.Events {
		if op := h.Events[i].F.Op(); op.Administrative() || op.String() == "count" {
			return true
		}
	}
	return false
}
