package recorded_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
)

// TestLimits checks that a history is judged by limits on the number of holders if its acquires state them, both in
// JSON Lines and in EDN. Without stated limits, the property must not be judged.
func TestLimits(t *testing.T) {
	lines := func(first, second string) string {
		call := func(p, limit string) string {
			return `{"type":"invoke","process":` + p + `,"f":"acquire"` + limit + "}\n"
		}
		ok := func(p string) string {
			return `{"type":"ok","process":` + p + `,"f":"acquire","value":{"slot":` + p + `,"held":true}}` + "\n"
		}
		return `{"lockproof":"history","version":1,"kind":"semaphore","locks":[{"name":"jobs","slots":3}]}` + "\n" +
			call("1", first) + ok("1") + call("2", second) + ok("2")
	}
	const one, two = `,"value":{"slots":1}`, `,"value":{"slots":2}`
	const edn = `{:type :invoke, :process 0, :f :acquire, :value {:slots 1}} {:type :ok, :process 0, :f :acquire}
{:type :invoke, :process 1, :f :acquire, :value {:slots 1}} {:type :ok, :process 1, :f :acquire}`
	for _, test := range []struct {
		name, history string
		verdict       report.Verdict
	}{
		{"two may hold it", lines(two, two), report.Passed},
		{"the second may not", lines(two, one), report.Violated},
		{"the first might not have been the second", lines(one, two), report.Passed},
		{"nobody says anything", lines("", ""), ""},
		{"as Jepsen writes it", edn, report.Violated},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, _, err := histories.ReadHistory(strings.NewReader(test.history), "history", histories.Unnamed)
			if err != nil {
				t.Fatal(err)
			}
			r, err := recorded.Check(h, recorded.CheckOptions{Permits: 3})
			if err != nil {
				t.Fatal(err)
			}
			verdict := report.Verdict("")
			if p := r.Result(property.LimitRespected); p != nil {
				verdict, _ = r.Verdict(p)
			}
			if verdict != test.verdict {
				t.Errorf("%q, expected %q", verdict, test.verdict)
			}
		})
	}
}
