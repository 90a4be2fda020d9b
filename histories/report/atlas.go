package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Atlas is the answers to open questions.
type Atlas struct {
	Tool      string
	Title     string    // whose they are, such as "the guidelines' open questions"
	Broker    string    // the real broker that counterexamples were replayed on; "" if none was asked
	Command   string    // what was typed, as a shell takes it
	At        time.Time // when it was made; the zero time where output must not differ from run to run
	Questions []Question
	// Needed are the options that no property can do without, found by trying all combinations.
	Needed *Needed
	// Missing is what a run that ended early has left out, besides configurations; "" otherwise.
	Missing string
}

// heading is the title as a heading begins.
func (a *Atlas) heading() string {
	first, size := utf8.DecodeRuneInString(a.Title)
	return string(unicode.ToUpper(first)) + a.Title[size:]
}

// Complete reports whether all that was asked for is there.
func (a *Atlas) Complete() bool {
	return a.Missing == "" && !slices.ContainsFunc(a.Questions, func(q Question) bool { return len(q.Missing) > 0 })
}

// shortfall says of an atlas that ended early how much of it there is; "" of one that is complete.
func (a *Atlas) shortfall() string {
	if a.Complete() {
		return ""
	}
	rows, all := 0, 0
	for i := range a.Questions {
		rows, all = rows+len(a.Questions[i].Rows), all+len(a.Questions[i].Rows)+len(a.Questions[i].Missing)
	}
	text := fmt.Sprintf("This ended early: %d of %s were visited", rows, style.Plural(all, "configuration"))
	if a.Missing != "" {
		text += ", and " + a.Missing + " is missing"
	}
	return text + "."
}

// Question is an open question and its answer.
type Question struct {
	Number int
	Ask    string
	Answer string // one sentence of conclusion, from all rows
	Rows   []AtlasRow
	// Missing are the settings of the rows that were not visited. Without them there is no answer.
	Missing []string
}

// conclusion is the answer, or what is missing for it.
func (q *Question) conclusion() string {
	if len(q.Missing) == 0 {
		return q.Answer
	}
	return "Not answered, since the run ended early. Missing: " + strings.Join(q.Missing, "; ") + "."
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
	Answered []string // what the server answers, where rows are measured
	Figures  []string // what the numbers are of a row that has no executions
	Same     string   // what a real server makes of a row that is measured; "" if none was asked
	// Counterexamples are the files that replay.
	Counterexamples []*histories.Counterexample
}

// AtlasVerdict is what is said of a property.
type AtlasVerdict struct {
	Property property.Property
	Verdict  Verdict
	Steps    int  // of the counterexample
	Least    bool // none has fewer, within the bounds
	Detail   string
	Trace    *scenario.Trace // the execution; nil if there is none
	Real     string          // what a real broker shows; "" if none was asked
}

// inSteps is how many steps the violation takes, in words.
func (v *AtlasVerdict) inSteps() string {
	if v.Least {
		return "in " + style.Plural(v.Steps, "step")
	}
	return "in at most " + style.Plural(v.Steps, "step")
}

// AtMost is the same as a number, as tables have it: "6", or "≤ 6" where fewer may do.
func (v AtlasVerdict) AtMost() string {
	if v.Least {
		return fmt.Sprint(v.Steps)
	}
	return fmt.Sprintf("≤ %d", v.Steps)
}

// Needed is the result of a search over combinations of options.
type Needed struct {
	Tried    int
	Proved   int
	Bounds   string
	Smallest []NeededOption // all of these together, and no fewer
	Free     []string       // options that make no difference then
	Any      *NeededAny     // nil where it was not looked at
}

// NeededAny is what is proved for any number of clients about the combinations whose properties are all proved within
// bounds. A violation with some clients is one for any number.
type NeededAny struct {
	Bounds string // for whom
	Each   []AnyCombination
}

// AnyCombination is a combination of options, and which properties are proved for any number of clients. Those that no
// execution put to the test are in neither list.
type AnyCombination struct {
	Options      string // those that make a difference between them
	Proved, Open property.Set
}

// AnyNumber is what is proved for any number of clients, in a sentence; "" where it was not looked at.
func (n *Needed) AnyNumber() string {
	a := n.Any
	if a == nil {
		return ""
	}
	proved, open := ^property.Set(0), []string(nil)
	for _, c := range a.Each {
		proved &= c.Proved
		if c.Open != 0 {
			open = append(open, c.Options+": "+strings.Join(c.Open.Names(), ", "))
		}
	}
	text := fmt.Sprintf("For %s, all %d have these proved: %s.", a.Bounds, len(a.Each), strings.Join(proved.Names(), ", "))
	if len(open) > 0 {
		text += " Not proved: " + strings.Join(open, "; ") + "."
	}
	return text + fmt.Sprintf(" The other %d are violated whatever the number, since some clients suffice.", n.Tried-n.Proved)
}

// NeededOption is an option without which something is lost.
type NeededOption struct {
	Option string
	Lost   []AtlasVerdict // when it alone is dropped
}

// Counterexamples are the executions that violate something, by the name of a file for each.
func (a *Atlas) Counterexamples() map[string]*histories.Counterexample {
	out := make(map[string]*histories.Counterexample)
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
	if r.Same != "" {
		out = append(out, r.Same)
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

// costly are the cost classes that the atlas prints in a line, by their name there.
var costly = map[string]string{
	monitor.AcquireFirst.String(): "acquire", monitor.AcquireFull.String(): "all taken", monitor.CountOK.String(): "count", monitor.AcquireRaced.String(): "after a lost race", monitor.VerifyHeld.String(): "verify",
	monitor.AcquireFirst.Of(lock.Mutex): "acquire", monitor.AcquireFull.Of(lock.Mutex): "taken", monitor.ReleaseOK.String(): "release", monitor.AddOK.String(): "add", monitor.RemoveOK.String(): "remove",
}

func ranged(s Spread) string {
	if s.Min == s.Max {
		return fmt.Sprint(s.Min)
	}
	return fmt.Sprintf("%d–%d", s.Min, s.Max)
}
