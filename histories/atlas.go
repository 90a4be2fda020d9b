package histories

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
)

// Atlas is the answers to the open questions of the guidelines.
type Atlas struct {
	Tool      string
	Broker    string // the real broker that counterexamples were replayed on; "" if none was asked
	Questions []Question
	// Needed are the options that no property can do without, found by trying all combinations.
	Needed *Needed
}

// Question is an open question and its answer.
type Question struct {
	Number int
	Ask    string
	Answer string // one sentence of conclusion
	Rows   []AtlasRow
}

// AtlasRow is one configuration, visited.
type AtlasRow struct {
	Setting  string
	Bounds   string
	Command  string // that repeats it
	Verdicts []AtlasVerdict
	Cost     []EfficiencyRow
	Space    *Space
	Ends     []string // the slots that can be left in the end
	Seen     []string // how operations can end that do not end as one would wish
	// Counterexamples are the files that replay.
	Counterexamples []*Counterexample
}

// AtlasVerdict is what is said of a property.
type AtlasVerdict struct {
	Property spec.Property
	Verdict  Verdict
	Steps    int // of the shortest counterexample
	Detail   string
	Trace    *scenario.Trace // the execution; nil if there is none
	Real     string          // what a real broker shows; "" if none was asked
}

// Needed is what a search over combinations of options came to.
type Needed struct {
	Tried    int
	Proved   int
	Bounds   string
	Smallest []NeededOption // all of these together, and no fewer
	Free     []string       // options that make no difference then
}

// NeededOption is an option without which something is lost.
type NeededOption struct {
	Option string
	Lost   []AtlasVerdict // when it alone is dropped
}

// Counterexamples are the executions that violate something, by the name of a file for each.
func (a *Atlas) Counterexamples() map[string]*Counterexample {
	out := make(map[string]*Counterexample)
	for _, q := range a.Questions {
		for i, r := range q.Rows {
			for _, ce := range r.Counterexamples {
				out[fmt.Sprintf("%02d-%d.%s.json", q.Number, i+1, ce.Property)] = ce
			}
		}
	}
	return out
}

// Violated are the verdicts of properties that are violated.
func (r *AtlasRow) Violated() (out []AtlasVerdict) {
	for _, v := range r.Verdicts {
		if v.Verdict == Violated {
			out = append(out, v)
		}
	}
	return out
}

// counts are how many properties have each verdict, in words.
func (r *AtlasRow) counts(want ...Verdict) string {
	var out []string
	for _, verdict := range want {
		n, last := 0, ""
		for _, v := range r.Verdicts {
			if v.Verdict == verdict {
				n, last = n+1, v.Property.String()
			}
		}
		switch {
		case n == 1:
			out = append(out, last+" "+string(verdict))
		case n > 1:
			out = append(out, fmt.Sprintf("%d properties %s", n, verdict))
		}
	}
	return strings.Join(out, ", ")
}

// real is what a real broker shows of a row's counterexamples, in a word or two.
func (r *AtlasRow) real() string {
	var out []string
	for _, v := range r.Violated() {
		if v.Real != "" && (len(out) == 0 || out[len(out)-1] != v.Real) {
			out = append(out, v.Real)
		}
	}
	return strings.Join(out, "; ")
}

// cost is what acquiring, verifying and releasing take: commands and round trips.
func (r *AtlasRow) cost() string {
	var out []string
	for _, c := range r.Cost {
		if name := costly[c.Operation]; name != "" {
			out = append(out, fmt.Sprintf("%s %s/%s", name, ranged(c.Commands), ranged(c.RoundTrips)))
		}
	}
	return strings.Join(out, " · ")
}

// costly are the situations whose cost is told in a line, by the name that they have there.
var costly = map[string]string{
	spec.AcquireFirst.String(): "acquire", spec.AcquireRaced.String(): "after a lost race", spec.VerifyHeld.String(): "verify",
	spec.ReleaseOK.String(): "release", spec.AddOK.String(): "add", spec.RemoveOK.String(): "remove",
}

func ranged(s Spread) string {
	if s.Min == s.Max {
		return fmt.Sprint(s.Min)
	}
	return fmt.Sprintf("%d–%d", s.Min, s.Max)
}
