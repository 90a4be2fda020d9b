package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Sweep is a table of configurations whose executions were all visited: the verdicts for each choice of options.
type Sweep struct {
	Tool, Target  string
	Kind          lock.Kind
	Name          string // of the table
	Broker        string
	FailedAcquire string    // as in [Report]
	Command       string    // the command as typed, quoted for a shell
	At            time.Time // time of creation; zero if the output must be reproducible
	Build         string    // the version that lockproof was built from
	Plan          string    // the JSON file that says what was varied; it suffices to repeat the table
	// Spelled explains values that are only names.
	Spelled []Spelled
	// Axes are the dimensions in which the configurations differ. Baseline is the value on each axis with which
	// others are compared.
	Axes, Baseline []string
	// Properties are the judged properties.
	Properties []property.Property
	// Rows are the visited configurations; Of is the number asked for.
	Rows []SweepRow
	Of   int
	// LeftOut are the numbers of impossible combinations, by reason.
	LeftOut []Count
	// Examples are the violated properties, each in the simplest configuration that violates it.
	Examples    []SweepExample
	Elapsed     time.Duration
	Interrupted bool
	// Status is the progress of a run that is not over: the browser reloads its page until another replaces it. ""
	// means that the run is over.
	Status string
}

// Spelled is a value on an axis that is only a name, with its meaning.
type Spelled struct{ Value, Words string }

// SweepRow is a configuration.
type SweepRow struct {
	Values   []string // by axis
	Command  string   // the command that repeats it
	States   int
	Cut      string    // the reason why not everything was visited; "" if it was
	Verdicts []Verdict // by property of the table
}

// SweepExample is a minimised counterexample.
type SweepExample struct {
	AtlasVerdict
	Row     int    // index of the configuration
	File    string // its path; "" if it was not written
	Command string // the command that shows it
}

// Cause is a minimal set of values on axes that together violate a property: with any one of them at its baseline, no
// tried configuration violates it.
type Cause struct {
	Values []string // as axis=value; empty means the baseline itself
	// Lost is the number of configurations that violate the property, of those that have these values.
	Lost, Of int
}

// Tally is the number of configurations with each verdict on a property.
func (s *Sweep) Tally(p property.Property) map[Verdict]int {
	at, out := slices.Index(s.Properties, p), make(map[Verdict]int)
	for i := range s.Rows {
		out[s.Rows[i].Verdicts[at]]++
	}
	return out
}

// Complete reports whether all configurations were completely visited.
func (s *Sweep) Complete() bool {
	return len(s.Rows) == s.Of && !slices.ContainsFunc(s.Rows, func(r SweepRow) bool { return r.Cut != "" })
}

// States is the total number of visited states.
func (s *Sweep) States() (n int) {
	for i := range s.Rows {
		n += s.Rows[i].States
	}
	return n
}

// changed are the indices of the axes on which a configuration differs from the baseline.
func (s *Sweep) changed(r *SweepRow) (axes []int) {
	for i, v := range r.Values {
		if v != s.Baseline[i] {
			axes = append(axes, i)
		}
	}
	return axes
}

// Simplest is the first configuration with the fewest changes that violates a property; -1 is none.
func (s *Sweep) Simplest(p property.Property) int {
	rows := s.losing(p)
	if len(rows) == 0 {
		return -1
	}
	return rows[0]
}

// losing are the configurations that violate a property, those with few changes first.
func (s *Sweep) losing(p property.Property) (rows []int) {
	at := slices.Index(s.Properties, p)
	for i := range s.Rows {
		if s.Rows[i].Verdicts[at] == Violated {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Compare(len(s.changed(&s.Rows[a])), len(s.changed(&s.Rows[b])))
	})
	return rows
}

// Causes are the minimal sets of values that violate a property.
func (s *Sweep) Causes(p property.Property) (causes []Cause) {
	var least []*SweepRow
	for _, i := range s.losing(p) {
		r := &s.Rows[i]
		if !slices.ContainsFunc(least, func(c *SweepRow) bool { return s.has(r, c) }) {
			least = append(least, r)
		}
	}
	at := slices.Index(s.Properties, p)
	for _, c := range least {
		cause := Cause{}
		for _, axis := range s.changed(c) {
			cause.Values = append(cause.Values, s.said(axis, c.Values[axis]))
		}
		for i := range s.Rows {
			if !s.has(&s.Rows[i], c) {
				continue
			}
			if cause.Of++; s.Rows[i].Verdicts[at] == Violated {
				cause.Lost++
			}
		}
		causes = append(causes, cause)
	}
	return causes
}

// has reports whether a configuration has all changes of another.
func (s *Sweep) has(r, other *SweepRow) bool {
	return !slices.ContainsFunc(s.changed(other), func(axis int) bool { return r.Values[axis] != other.Values[axis] })
}

// said is a value on an axis, in words. Sizes and faults are shown without the axis.
func (s *Sweep) said(axis int, value string) string {
	if strings.Contains(value, " ") {
		return value
	}
	return s.Axes[axis] + "=" + value
}

// String is the cause in words.
func (c *Cause) String() string {
	what := strings.Join(c.Values, " with ")
	if len(c.Values) == 0 {
		what = "the baseline"
	}
	if c.Lost == c.Of {
		return fmt.Sprintf("%s (all %s)", what, style.Grouped(c.Of))
	}
	return fmt.Sprintf("%s (%s of %s)", what, style.Grouped(c.Lost), style.Grouped(c.Of))
}

// causesShown is the largest number of causes that are printed for a property.
const causesShown = 8

// causes describes the minimal sets of values that violate a property; "" if there are none.
func (s *Sweep) causes(p property.Property) string {
	var out []string
	all := s.Causes(p)
	for i := range min(len(all), causesShown) {
		out = append(out, all[i].String())
	}
	if more := len(all) - causesShown; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, "; ")
}

// Effect is the number of violations of each property with one value on an axis.
type Effect struct {
	Value string
	Rows  int
	Lost  []int // by property of the table
}

// Effects are the effects of the values on an axis, in the order of their first configurations.
func (s *Sweep) Effects(axis int) (out []Effect) {
	for i := range s.Rows {
		r := &s.Rows[i]
		at := slices.IndexFunc(out, func(e Effect) bool { return e.Value == r.Values[axis] })
		if at < 0 {
			at = len(out)
			out = append(out, Effect{Value: r.Values[axis], Lost: make([]int, len(s.Properties))})
		}
		out[at].Rows++
		for k, v := range r.Verdicts {
			if v == Violated {
				out[at].Lost[k]++
			}
		}
	}
	return out
}

// shortfall says what is missing from an incomplete table; "" if nothing is.
func (s *Sweep) shortfall() string {
	var out []string
	if n := s.Of - len(s.Rows); n > 0 {
		out = append(out, fmt.Sprintf("%s of %s were not visited", style.Grouped(n), style.Plural(s.Of, "configuration")))
	}
	cut := 0
	for i := range s.Rows {
		if s.Rows[i].Cut != "" {
			cut++
		}
	}
	if cut > 0 {
		out = append(out, fmt.Sprintf("%s were visited in part: nothing is proved there", style.Plural(cut, "configuration")))
	}
	return strings.Join(out, "; ")
}

// spelled is the meaning of a value, "" if the value says it itself.
func (s *Sweep) spelled(value string) string {
	for _, m := range s.Spelled {
		if m.Value == value {
			return m.Words
		}
	}
	return ""
}

// contested are the indices of the properties that some configuration violates, or leaves undecided.
func (s *Sweep) contested() (out []int) {
	for k, p := range s.Properties {
		tally := s.Tally(p)
		if tally[Violated]+tally[Undecided]+tally[Passed] > 0 {
			out = append(out, k)
		}
	}
	return out
}

// uncontested are the other properties: those that are proved, and those never put to the test.
func (s *Sweep) uncontested() (proved, untested []string) {
	for _, p := range s.Properties {
		switch tally := s.Tally(p); {
		case tally[Violated]+tally[Undecided]+tally[Passed] > 0:
		case tally[Proved] > 0:
			proved = append(proved, p.String())
		default:
			untested = append(untested, p.String())
		}
	}
	return proved, untested
}

// leftOut lists the impossible combinations; "" if there are none.
func (s *Sweep) leftOut() string {
	var out []string
	for _, c := range s.LeftOut {
		out = append(out, fmt.Sprintf("%s left out: %s", style.Plural(c.Number, "combination"), c.Name))
	}
	return strings.Join(out, "; ")
}

// how says how the table was made.
func (s *Sweep) how() []string {
	how := []string{fmt.Sprintf("every execution of each visited on %s", s.Broker)}
	if s.Elapsed > 0 {
		how[0] += " in " + took(s.Elapsed)
	}
	return append(how, style.Plural(s.States(), "state"), "failed acquires: "+s.FailedAcquire)
}
