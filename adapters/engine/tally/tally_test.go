package tally

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
)

// TestUnclear checks that undecided histories are counted. The reason must be that of the first one, also after tallies
// are merged in any order or read from a file.
func TestUnclear(t *testing.T) {
	early, late, none := new(Tally), new(Tally), new(Tally)
	late.Unclear(9, "it is too large")
	late.Unclear(7, "event 3: c1's acquire ok: expected an invocation before its completion")
	early.Unclear(4, "event 5: expected something else")
	none.Checks[property.Linearizable] = 17
	for _, order := range [][]*Tally{{early, late, none}, {none, late, early}, {late, none, early}} {
		var sum Tally
		for _, s := range order {
			sum.Merge(s)
		}
		data, err := json.Marshal(&sum)
		if err != nil {
			t.Fatal(err)
		}
		var read Tally
		if err := json.Unmarshal(data, &read); err != nil {
			t.Fatal(err)
		}
		r := read.Result(property.Linearizable, nil, property.Weak, 0)
		const want = "3 of 20 histories could not be decided, first that of execution 5: event 5: expected something else"
		if verdict, why := new(report.Report).Verdict(&r); verdict != report.Undecided || why != want {
			t.Errorf("%s: %q, expected %q", verdict, why, want)
		}
	}
	if r := none.Result(property.Linearizable, nil, property.Weak, 0); r.Unclear != "" {
		t.Errorf("all were decided, and %q is said", r.Unclear)
	}
	first := new(Tally)
	first.Unclear(19, "first")
	first.Follow(early)
	if first.unclear.Why != "first" {
		t.Errorf("of scenarios that come after all others, %q is said first", first.unclear.Why)
	}
}
