package recorded_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
)

// TestOrder checks that a history is undecided if its times contradict the order of its lines, unless the options say
// which order is right.
func TestOrder(t *testing.T) {
	const logs = `{:process 1 :type :invoke :f :acquire :time 1} {:process 1 :type :ok :f :acquire :time 2}
{:process 1 :type :invoke :f :release :time 3} {:process 1 :type :ok :f :release :time 4}
{:process 2 :type :invoke :f :acquire :time 5} {:process 2 :type :ok :f :acquire :time 6}
`
	one, two, _ := strings.Cut(logs, "\n{:process 2")
	two = "{:process 2" + two
	for _, test := range []struct {
		name, text        string
		both, lines, time report.Outcome
	}{
		{"they agree", logs, report.OutcomeHolds, report.OutcomeHolds, report.OutcomeHolds},
		{"one log after the other", two + one, report.OutcomeInconclusive, report.OutcomeViolated, report.OutcomeHolds},
		{"without times", strings.NewReplacer(":time 1", "", ":time 2", "", ":time 5", "").Replace(logs), report.OutcomeHolds, report.OutcomeHolds, report.OutcomeHolds},
		{"of the nemesis", logs + "{:process :nemesis :type :info :f :start :time 1}", report.OutcomeHolds, report.OutcomeHolds, report.OutcomeHolds},
	} {
		for order, want := range map[recorded.Order]report.Outcome{recorded.BothOrders: test.both, recorded.ByLines: test.lines, recorded.ByTime: test.time} {
			recording, err := histories.NewRecording(strings.NewReader(test.text), "logs.edn", histories.Unnamed)
			if err != nil {
				t.Fatal(err)
			}
			r, err := recorded.CheckRecording(recording, recorded.CheckOptions{Source: "logs.edn", Order: order})
			if err != nil {
				t.Fatal(err)
			}
			if r.Outcome() != want {
				t.Errorf("%s, ordered by %s: %s, expected %s", test.name, order, r.Outcome(), want)
			}
			if said := r.Properties[0].Unclear; want == report.OutcomeInconclusive && !strings.HasSuffix(said, ": say --order time or --order lines") {
				t.Errorf("%s: %q does not say what to do", test.name, said)
			}
		}
	}
}
