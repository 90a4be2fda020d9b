package histories

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/scenario"
)

func TestDraw(t *testing.T) {
	for name, c := range map[string]struct {
		trace *scenario.Trace
		style Style
	}{
		"diagram-violation.txt":       {lockedTaken(), Style{Width: 100}},
		"diagram-violation-color.txt": {lockedTaken(), Style{Width: 100, Color: true}},
		"diagram-violation-60.txt":    {lockedTaken(), Style{Width: 60}},
		"diagram-faults.txt":          {faults(), Style{Width: 110}},
		"diagram-mutex.txt":           {mutex(), Style{}},
		"diagram-crowd.txt":           {crowd(), Style{Width: 100}},
	} {
		var b strings.Builder
		if err := Draw(&b, c.trace, c.style); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
	}
}
