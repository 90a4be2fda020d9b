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

// Atlas has the answers to a list of open questions about locks, each answer from visited or measured configurations.
type Atlas struct {
	Tool      string
	Title     string    // for example "the guidelines' open questions"
	Broker    string    // the real broker on which counterexamples were replayed; "" for none
	Command   string    // the command as typed, quoted for a shell
	At        time.Time // time of creation; zero if the output must be reproducible
	Questions []Question
	// Needed says which options a lock needs, by trying all combinations; nil if this was not examined.
	Needed *Needed
	// Missing says what is missing because the run ended early, besides the configurations in Question.Missing; "" if
	// nothing is.
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

// shortfall says which part of the atlas is missing because the run ended early; "" if nothing is.
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

// Question is an open question and its answer, with the configurations from which it follows.
type Question struct {
	Number int
	Ask    string
	Answer string // the answer that follows from all rows, in one sentence
	Rows   []AtlasRow
	// Missing are the settings of the rows that were not visited. If any is missing, the question has no answer.
	Missing []string
}

// conclusion returns the answer. If rows are missing, there is no answer; then it says which rows are missing.
func (q *Question) conclusion() string {
	if len(q.Missing) == 0 {
		return q.Answer
	}
	return "Not answered, since the run ended early. Missing: " + strings.Join(q.Missing, "; ") + "."
}

// AtlasRow is one configuration that was visited or measured.
type AtlasRow struct {
	Setting  string
	Bounds   string
	Command  string // command that repeats the row's exploration
	Verdicts []AtlasVerdict
	Cost     []EfficiencyRow
	Space    *Space
	Ends     []string // sets of slots that can exist when all calls have ended
	Seen     []string // undesired ways in which operations can end
	Answered []string // the server's answers, for a measured row
	Figures  []string // what the numbers mean, for a row without executions
	Same     string   // what a real server did, for a measured row; "" if none was asked
	// Counterexamples are replayable executions that violate a property.
	Counterexamples []*histories.Counterexample
}

// AtlasVerdict is the verdict on one property in a configuration.
type AtlasVerdict struct {
	Property property.Property
	Verdict  Verdict
	Steps    int  // number of steps of the counterexample
	Least    bool // no execution within the bounds violates the property in fewer steps
	Detail   string
	Trace    *scenario.Trace // the counterexample; nil if there is none
	Real     string          // result of a replay on a real broker; "" if there was none
}

// inSteps says in words how many steps the violation takes: "in 6 steps", or "in at most 6 steps" if fewer may suffice.
func (v *AtlasVerdict) inSteps() string {
	if v.Least {
		return "in " + style.Plural(v.Steps, "step")
	}
	return "in at most " + style.Plural(v.Steps, "step")
}

// AtMost is the number of steps of the violation, for a table: "6", or "≤ 6" if fewer may suffice.
func (v AtlasVerdict) AtMost() string {
	if v.Least {
		return fmt.Sprint(v.Steps)
	}
	return fmt.Sprintf("≤ %d", v.Steps)
}

// Needed says which options a lock cannot do without. It results from visiting all combinations of some options.
type Needed struct {
	Tried    int
	Proved   int
	Bounds   string
	Smallest []NeededOption // the smallest set of options that suffices
	Free     []string       // other options, which then make no difference
	Any      *NeededAny     // results for any number of clients; nil if not examined
}

// NeededAny has the results for any number of clients. It concerns the combinations of options for which all properties
// are proved within bounds. A violation needs no proof: one with some clients also exists with more.
type NeededAny struct {
	Bounds string // the clients and slots concerned, in words
	Each   []AnyCombination
}

// AnyCombination is a combination of options. Proved are the properties that are proved for any number of clients, and
// Open those that are not. A property that no execution put to the test is in neither.
type AnyCombination struct {
	Options      string // the options in which combinations differ
	Proved, Open property.Set
}

// AnyNumber says in words what is proved for any number of clients; "" if this was not examined.
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

// NeededOption is an option without which the lock violates some property.
type NeededOption struct {
	Option string
	Lost   []AtlasVerdict // verdicts on the violated properties if only this option is dropped
}

// Counterexamples maps file names to the counterexamples of all rows.
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

// Violated are the verdicts of the properties that are violated in this configuration.
func (r *AtlasRow) Violated() (out []AtlasVerdict) {
	for _, v := range r.Verdicts {
		if v.Verdict == Violated {
			out = append(out, v)
		}
	}
	return out
}

// counts says how many properties have each of the wanted verdicts, for example "12 properties proved, no-leak
// violated".
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

// real says in a few words what a real broker did when the row's counterexamples were replayed.
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

// cost lists the costs of operations, such as acquire and verify, as commands/round trips.
func (r *AtlasRow) cost() string {
	var out []string
	for _, c := range r.Cost {
		if name := costly[c.Operation]; name != "" {
			out = append(out, fmt.Sprintf("%s %s/%s", name, ranged(c.Commands), ranged(c.RoundTrips)))
		}
	}
	return strings.Join(out, " · ")
}

// costly maps the names of the cost classes that the atlas shows to their short names there.
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
