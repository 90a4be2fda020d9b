package draw

import (
	"io"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/historiestest"
	"github.com/lockproof/lockproof/histories/style"

	"github.com/lockproof/lockproof/model/scenario"
)

func TestDraw(t *testing.T) {
	for name, c := range map[string]struct {
		trace *scenario.Trace
		style style.Style
	}{
		"diagram-violation.txt":       {historiestest.LockedTaken(), style.Style{Width: 100}},
		"diagram-violation-color.txt": {historiestest.LockedTaken(), style.Style{Width: 100, Color: true}},
		"diagram-violation-60.txt":    {historiestest.LockedTaken(), style.Style{Width: 60}},
		"diagram-faults.txt":          {historiestest.Faults(), style.Style{Width: 110}},
		"diagram-mutex.txt":           {historiestest.Mutex(), style.Style{}},
		"diagram-crowd.txt":           {historiestest.Crowd(), style.Style{Width: 100}},
	} {
		var b strings.Builder
		if err := Draw(&b, c.trace, c.style); err != nil {
			t.Fatal(err)
		}
		historiestest.Golden(t, name, b.String())
	}
}

// TestDrawBare: an execution of which nothing is known but its locks is drawn, too.
func TestDrawBare(t *testing.T) {
	for _, s := range []scenario.Scenario{{}, {Locks: []scenario.Lock{{Name: "jobs", Slots: 2}}, Clients: []scenario.Client{{}}}} {
		x := &scenario.Trace{Scenario: s}
		if err := Draw(io.Discard, x, style.Style{}); err != nil {
			t.Error(err)
		}
		Transcript(x)
		SVG(x, "bare")
		Strips(x)
		Errors(x)
	}
}
