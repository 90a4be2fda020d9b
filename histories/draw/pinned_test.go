package draw_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/historiestest"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/pinned"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// TestPinned holds against a file how random executions of every target are drawn and told: as text of several widths,
// as a picture, and as sentences.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for _, target := range slices.Concat(amqplock.References, mutant.All) {
		inputs := 1
		if target.Breaks == "" {
			inputs = 30
		}
		f.Block(target.Name, inputs, func(i int, s *pinned.Seen) {
			var r sim.Runner
			drawn := sim.NewSource(sim.Space{Target: target}, 51).Scenario(i)
			trace := r.Trace(target, &drawn, property.FailedAcquire(i%2))
			if i%3 == 1 {
				trace.Errors = make(map[int]string)
				for k := range trace.History.Events {
					if k%5 == 3 {
						trace.Errors[k] = "it said \x1b[31mno\n" + string(rune('a'+k%26))
					}
				}
			}
			if len(trace.Violations) > 0 {
				s.Count("with violations")
			}
			var b bytes.Buffer
			err := draw.Draw(&b, trace, style.Style{Width: []int{100, 60, 130, 0, 80}[i%5], Color: i%4 == 0})
			s.Write(b.Bytes())
			s.Printf("%v\n%s\n%q\n%q\n%q", err, draw.SVG(trace, ""), draw.Settings(trace), draw.Transcript(trace), draw.Errors(trace))
			for _, v := range trace.Violations {
				s.Printf("%d %s", draw.Decision(trace, v), draw.Cause(trace, v))
			}
		})
	}
	f.Compare("testdata/pinned.txt", historiestest.Rewriting())
}
