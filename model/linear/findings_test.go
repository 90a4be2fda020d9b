package linear

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/property"
)

var rewrite = flag.Bool("rewrite", false, "take the findings as they are")

// TestFindingsOnDrawnHistories compares the findings on drawn histories with a file: event, slot and reason of each
// history that is not legal. It holds the texts; [TestFastCheckAgreesWithPorcupine] checks the decisions. -rewrite
// renews the file.
func TestFindingsOnDrawnHistories(t *testing.T) {
	const path = "testdata/findings.txt"
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
	if *rewrite {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, was := strings.Split(out.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(was)) {
		if i >= len(got) || i >= len(was) || got[i] != was[i] {
			t.Fatalf("%s:%d: got\n%s\nwant\n%s\n(go test -rewrite takes it as it is)", path, i+1,
				strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), strings.Join(was[min(i, len(was)):min(i+1, len(was))], ""))
		}
	}
}
