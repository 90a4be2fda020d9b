package execution_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/execution"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestUpcoming: a client skips operations that make no sense. If its hold can end on its own, it calls a skipped
// acquire after that. In ops, the letters a, v and r are acquire, verify and release.
func TestUpcoming(t *testing.T) {
	for _, c := range []struct {
		ops                      string
		next                     int
		holding, lapses, forever bool
		kept, at                 int
	}{
		{ops: "avr", next: 1, holding: true, kept: 1, at: 1},
		{ops: "avr", next: 1, kept: 3, at: 3},
		{ops: "avra", next: 1, lapses: true, kept: 3, at: 3},
		{ops: "aa", next: 1, holding: true, kept: 2, at: 2},
		{ops: "aa", next: 1, holding: true, lapses: true, kept: 1, at: 2},
		{ops: "aa", next: 1, lapses: true, kept: 1, at: 1},
		{ops: "aar", next: 1, holding: true, kept: 2, at: 2},
		{ops: "aar", next: 1, holding: true, lapses: true, kept: 1, at: 2},
		{ops: "avr", next: 1, forever: true, kept: 0, at: 0},
		{ops: "a", next: 1, holding: true, forever: true, kept: 1, at: 1},
		{ops: "a", next: 1, holding: true, lapses: true, forever: true, kept: 0, at: 1},
	} {
		var ops []scenario.Operation
		for _, word := range c.ops {
			op := map[rune]lock.Op{'a': lock.Acquire, 'v': lock.Verify, 'r': lock.Release}[word]
			ops = append(ops, scenario.Operation{Op: op})
		}
		if kept, at := execution.Upcoming(ops, c.next, c.holding, c.lapses, c.forever); kept != c.kept || at != c.at {
			t.Errorf("%+v: %d and %d", c, kept, at)
		}
	}
}
