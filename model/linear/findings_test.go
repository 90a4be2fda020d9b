package linear

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/property"
)

// TestFindingsOnDrawnHistories compares the findings on random histories with a file: the event, slot and reason for
// each illegal history. The decisions themselves are checked by [TestFastCheckAgreesWithPorcupine]. The flag -rewrite
// renews the file.
func TestFindingsOnDrawnHistories(t *testing.T) {
	var c Checker
	var out strings.Builder
	for seed := range uint64(600) {
		choose := drawn.BySeed(seed)
		h := drawn.History(choose, drawn.Any(choose))
		if Validate(h) != nil {
			continue
		}
		for s := property.Weak; s <= property.Strong; s++ {
			if f := c.Linearizable(h, Options{FailedAcquire: s}); f.Decision != Legal {
				fmt.Fprintf(&out, "%d %s: %s by %s, event %d, slot %d: %s\n", seed, s, f.Decision, f.How, f.Event, f.Slot, f.Why)
			}
		}
	}
	pinned.Text(t, "testdata/findings.txt", out.String())
}
