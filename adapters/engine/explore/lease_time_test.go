package explore_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
)

// TestTimeInTransactions lets time pass within a transaction and before its reply. Two clients can then hold one slot
// in two cases: if a client counts its lease from the reply, or if the lease's end is computed from the time at which
// the transaction began.
func TestTimeInTransactions(t *testing.T) {
	t.Parallel()
	reply, began := [][2]string{{"deadline", "reply"}}, [][2]string{{"clock", "transaction"}}
	for _, c := range []struct {
		target  string
		options [][2]string
		want    report.Verdict
	}{
		{"mariadb-deadline-late", nil, report.Violated},
		{"postgres-deadline-late", nil, report.Violated},
		{"mariadb-slots", reply, report.Violated},
		{"postgres-slots", reply, report.Violated},
		{"postgres-slots", began, report.Violated},
		{"mariadb-slots", nil, report.Passed},
		{"postgres-slots", nil, report.Passed},
	} {
		target, err := engine.TargetNamed(c.target)
		if err != nil {
			t.Fatal(err)
		}
		x, err := explore.Run(t.Context(), explore.Exploration{
			Target: target, Workload: explore.Workload{Clients: 2, Slots: 1, Rounds: 1}, Options: c.options, Judging: engine.Judging{Properties: 1 << property.MutualExclusion},
		})
		if err != nil {
			t.Fatal(err)
		}
		if verdict, why := x.Report.Verdict(&x.Report.Properties[0]); verdict != c.want {
			t.Errorf("%s %v: %s %s, expected %s", c.target, c.options, verdict, why, c.want)
		}
	}
}
