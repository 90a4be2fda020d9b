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

// Atlas has the answers to open questions.
type Atlas struct {
	Tool      string
	Title     string    // such as "the guidelines' open questions"
	Broker    string    // the real broker on which counterexamples were replayed; "" if none was asked
	Command   string    // the command as typed, quoted for a shell
	At        time.Time // time of creation; zero if the output must be reproducible
	Questions []Question
	// Needed are the options that no property can do without, found by trying all combinations.
	Needed *Needed
	// Missing says what else than configurations a run that ended early left out; "" if nothing.
	Missing string
}

// heading is the title with an initial capital.
func (a *Atlas) heading() string {
	first, size := utf8.DecodeRuneInString(a.Title)
	return string(unicode.ToUpper(first)) + a.Title[size:]
}

// Complete reports whether the atlas has everything that was asked for.
func (a *Atlas) Complete() bool {
	return a.Missing == "" && !slices.ContainsFunc(a.Questions, func(q Question) bool { return len(q.Missing) > 0 })
}

// shortfall says which part of an atlas is missing because the run ended early; "" if none is.
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
	Answer string // the conclusion from all rows, in one sentence
	Rows   []AtlasRow
	// Missing are the settings of the rows that were not visited. If there are any, there is no answer.
	Missing []string
}

// conclusion is the answer, or what is missing for an answer.
func (q *Question) conclusion() string {
	if len(q.Missing) == 0 {
		return q.Answer
	}
	return "Not answered, since the run ended early. Missing: " + strings.Join(q.Missing, "; ") + "."
}

// AtlasRow is one visited configuration.
type AtlasRow struct {
	Setting  string
	Bounds   string
	Command  string // the command that repeats it
	Verdicts []AtlasVerdict
	Cost     []EfficiencyRow
	Space    *Space
	Ends     []string // the slots that can exist in the end
	Seen     []string // undesired ways in which operations can end
	Answered []string // the server's answers, if the row is measured
	Figures  []string // the meaning of the numbers in a row without executions
	Same     string   // a real server's result for a measured row; "" if none was asked
	// Counterexamples can be replayed.
	Counterexamples []*histories.Counterexample
}

// AtlasVerdict is the verdict on a property.
type AtlasVerdict struct {
	Property property.Property
	Verdict  Verdict
	Steps    int  // of the counterexample
	Least    bool // no execution within the bounds has fewer
	Detail   string
	Trace    *scenario.Trace // the execution; nil if there is none
	Real     string          // the result on a real broker; "" if none was asked
}

// inSteps is the number of steps of the violation, in words.
func (v *AtlasVerdict) inSteps() string {
	if v.Least {
		return "in " + style.Plural(v.Steps, "step")
	}
	return "in at most " + style.Plural(v.Steps, "step")
}

// AtMost is the number of steps for a table: "6", or "≤ 6" if fewer may suffice.
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
	Smallest []NeededOption // needed together; no smaller set suffices
	Free     []string       // options that then make no difference
	Any      *NeededAny     // nil if this was not examined
}

// NeededAny says what is proved for any number of clients about the combinations whose properties are all proved
// within bounds. A violation with some number of clients also holds for any number.
type NeededAny struct {
	Bounds string // the clients concerned
	Each   []AnyCombination
}

// AnyCombination is a combination of options, with the properties that are proved for any number of clients, and
// those that are not. Properties that no execution put to the test are in neither list.
type AnyCombination struct {
	Options      string // only those in which the combinations differ
	Proved, Open property.Set
}

// AnyNumber says in a sentence what is proved for any number of clients; "" if this was not examined.
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

// NeededOption is an option without which some property is lost.
type NeededOption struct {
	Option string
	Lost   []AtlasVerdict // if only this option is dropped
}

// Counterexamples are the executions that violate a property, by their file names.
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

// counts lists the wanted verdicts, with the number of properties that have each.
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

// real is the result on a real broker for a row's counterexamples, in a word or two.
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

// cost is the cost of acquiring, verifying and releasing: commands and round trips.
func (r *AtlasRow) cost() string {
	var out []string
	for _, c := range r.Cost {
		if name := costly[c.Operation]; name != "" {
			out = append(out, fmt.Sprintf("%s %s/%s", name, ranged(c.Commands), ranged(c.RoundTrips)))
		}
	}
	return strings.Join(out, " · ")
}

// costly are the cost classes that the atlas prints, with their names there.
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
