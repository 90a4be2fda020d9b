package recorded_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
)

// TestFencingTokens checks that fencing tokens are judged if a history's grants have them, both in JSON Lines and in
// EDN. A history without tokens must not be judged by them.
func TestFencingTokens(t *testing.T) {
	const header = `{"lockproof":"history","version":1,"kind":"mutex","locks":[{"name":"jobs","slots":1}]}` + "\n"
	lines := func(first, second string) string {
		call := func(p, f string) string { return `{"type":"invoke","process":` + p + `,"f":"` + f + `"}` + "\n" }
		ok := func(p, f, more string) string {
			return `{"type":"ok","process":` + p + `,"f":"` + f + `","value":{"slot":1` + more + "}}\n"
		}
		return header + call("1", "acquire") + ok("1", "acquire", `,"held":true`+first) + call("1", "release") + ok("1", "release", "") +
			call("2", "acquire") + ok("2", "acquire", `,"held":true`+second)
	}
	const edn = `{:type :invoke, :process 0, :f :acquire} {:type :ok, :process 0, :f :acquire, :value {:token 8}}
{:type :invoke, :process 0, :f :release} {:type :ok, :process 0, :f :release}
{:type :invoke, :process 1, :f :acquire} {:type :ok, :process 1, :f :acquire, :value {:token 8}}`
	for _, test := range []struct {
		name, history string
		verdict       report.Verdict
	}{
		{"they grow", lines(`,"token":7`, `,"token":8`), report.Passed},
		{"they do not", lines(`,"token":7`, `,"token":7`), report.Violated},
		{"one has none", lines(`,"token":7`, ""), report.Passed},
		{"none has any", lines("", ""), ""},
		{"as Jepsen writes it", edn, report.Violated},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, _, err := histories.ReadHistory(strings.NewReader(test.history), "history", histories.Unnamed)
			if err != nil {
				t.Fatal(err)
			}
			r, err := recorded.Check(h, recorded.CheckOptions{Judging: engine.Judging{Properties: property.Applicable(h.Kind)}})
			if err != nil {
				t.Fatal(err)
			}
			verdict := report.Verdict("")
			if p := r.Result(property.FencingMonotone); p != nil {
				verdict, _ = r.Verdict(p)
			}
			if verdict != test.verdict {
				t.Errorf("%q, expected %q", verdict, test.verdict)
			}
		})
	}
}
