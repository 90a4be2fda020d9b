package lockproof_test

import (
	"testing"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/model/lock"
)

// BenchmarkProve is whole scenarios, drawn, run and judged by every property, on one core.
func BenchmarkProve(b *testing.B) {
	for _, target := range lock.References {
		b.Run(target.Name, func(b *testing.B) {
			b.ReportAllocs()
			res, err := lockproof.Prove(b.Context(), lockproof.Config{Target: target, Scenarios: b.N, Workers: 1})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scenarios/s")
			b.ReportMetric(float64(res.Report.Commands)/float64(b.N), "commands/scenario")
		})
	}
}
