package linear

import (
	"fmt"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

func BenchmarkCrowd(b *testing.B) {
	const ops = 1_000_000
	for _, unanswered := range []float64{0, 0.01} {
		for _, evidence := range []bool{true, false} {
			for s := property.Weak; s <= property.Strong; s++ {
				// Without unanswered operations, evidence makes no difference. The second kind of history is too large
				// to decide.
				if unanswered == 0 && !evidence || s == property.Strong && !evidence {
					continue
				}
				h := drawn.Crowd{Operations: ops, Clients: 30, Slots: 8, Unanswered: unanswered, Evidence: evidence}.Whole(1)
				b.Run(fmt.Sprintf("unanswered=%v%%/evidence=%v/%s", 100*unanswered, evidence, s), func(b *testing.B) {
					var c Checker
					b.ReportAllocs()
					for b.Loop() {
						if f := c.Linearizable(h, Options{FailedAcquire: s}); f.Decision != Legal {
							b.Fatalf("%+v", f)
						}
					}
					b.ReportMetric(float64(b.N)*ops/b.Elapsed().Seconds()/1e6, "Mops/s")
				})
			}
		}
	}
}

func BenchmarkSmall(b *testing.B) {
	choose := drawn.BySeed(1)
	var all []*history.History
	operations := 0
	for len(all) < 1000 {
		d := drawn.Any(choose)
		d.Steps, d.Corrupts, d.Unnamed = 60, 0, false
		if h := drawn.History(choose, d); Validate(h) == nil {
			all = append(all, h)
			operations += len(h.Events) / 2
		}
	}
	var c Checker
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h := all[i%len(all)]
		i++
		if err := c.normaliser.normalise(h, 0, Options{}); err != nil {
			b.Fatal(err)
		}
		if f := c.fast(Options{}); f.Decision == Illegal {
			b.Fatalf("%+v", f)
		}
	}
	b.ReportMetric(float64(operations)/float64(len(all)), "ops/history")
}
