package draw

import (
	"io"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"

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

// TestDrawBare: an execution without steps, of which only the locks and clients are known, is drawn without an error.
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

// TestCauseNotAwaited: if a release deletes the holder's queue and gets no reply, the cause says that no reply came. It
// does not say that the command was wrong.
func TestCauseNotAwaited(t *testing.T) {
	x := historiestest.NotAwaited()
	const want = "c1's release at step 3 was delete jobs-1-B, to which no reply came: its queue is still there, and c1's."
	if got := Cause(x, x.Violations[0]); got != want {
		t.Errorf("got %q, expected %q", got, want)
	}
}
