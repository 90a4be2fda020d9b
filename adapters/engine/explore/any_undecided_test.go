package explore

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

// TestExploreAnyUndecided checks a property that the abstraction violates. If no execution of real clients is found
// that violates it, and no more precise abstraction excludes it, the property is undecided. The report must say what
// was tried.
func TestExploreAnyUndecided(t *testing.T) {
	e := Exploration{
		Workload: Workload{Clients: AnyNumber, Slots: 1, Admins: 1}, Judging: engine.Judging{Properties: 1 << property.RemovalDrains}, Options: [][2]string{{"verify-first", "false"}},
	}
	for states, says := range map[int]string{
		2: "seen violated in the abstraction; none of 2 states of 1 client of each kind shows it; " +
			"clients that hold something followed together: violated there too; " +
			"clients that hold something followed together, with one that does not: violated there too",
		realStates: "",
	} {
		x, err := newAnyExploration(t.Context(), &e)
		if err != nil {
			t.Fatal(err)
		}
		x.states = states
		found, err := x.explore()
		if err != nil {
			t.Fatal(err)
		}
		verdict, why := found.Report.Verdict(&found.Report.Properties[0])
		if says == "" && verdict != report.Violated || says != "" && (verdict != report.Undecided || why != says) {
			t.Errorf("%d states: %s, %q", states, verdict, why)
		}
		var card strings.Builder
		if err := report.WriteCard(&card, found.Report, style.Style{Width: 200}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(card.String(), "proved for") || strings.Contains(card.String(), "undecided") != (says != "") {
			t.Errorf("%d states:\n%s", states, card.String())
		}
	}
}
