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

// Sweep is a table of configurations: combinations of options, sizes and faults. All executions of each were visited,
// and the table has the verdicts.
type Sweep struct {
	Tool, Target  string
	Kind          lock.Kind
	Name          string // name of the table
	Broker        string
	FailedAcquire string    // weak or strong, as in [Report]
	Command       string    // the command as typed, quoted for a shell
	At            time.Time // time of creation; zero if the output must be reproducible
	Build         string    // the version that lockproof was built from
	Plan          string    // JSON file that says what was varied; it suffices to repeat the table
	// Spelled explains the values on axes that are only names.
	Spelled []Spelled
	// Axes are the names of the dimensions in which configurations differ. Baseline has, for each axis, the value with
	// which the other values are compared.
	Axes, Baseline []string
	// Properties are the properties that were judged, in the order of each row's Verdicts.
	Properties []property.Property
	// Rows are the configurations that were visited. Of is the number of configurations that were asked for.
	Rows []SweepRow
	Of   int
	// LeftOut has the numbers of combinations that are impossible, by the reason.
	LeftOut []Count
	// Examples are counterexamples: for each violated property, one in the simplest configuration that violates it.
	Examples    []SweepExample
	Elapsed     time.Duration
	Interrupted bool
	// Status describes the progress of a run that goes on. The browser then reloads its page regularly. "" means that
	// the run is over.
	Status string
}

// Spelled is a value on an axis that is only a name. Words says what it means.
type Spelled struct{ Value, Words string }

// SweepRow is one configuration with its verdicts.
type SweepRow struct {
	Values   []string // in the order of the axes
	Command  string   // command that repeats the exploration
	States   int
	Cut      string    // reason why not all executions were visited; "" if all were
	Verdicts []Verdict // in the order of the table's properties
}

// SweepExample is a minimised counterexample in one configuration.
type SweepExample struct {
	AtlasVerdict
	Row     int    // index of the configuration in Rows
	File    string // path of the counterexample's file; "" if it was not written
	Command string // command that shows the counterexample
}

// Cause is a minimal set of values that violates a property. If a visited configuration has only some of these values,
// and the baseline's values on all other axes, it does not violate the property.
type Cause struct {
	Values []string // as axis=value; empty if the baseline itself violates the property
	// Lost is the number of configurations with these values that violate the property. Of is the number of all
	// configurations with these values.
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

// Complete reports whether all executions of all configurations were visited.
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

// changed are the indices of the axes on which a configuration has another value than the baseline.
func (s *Sweep) changed(r *SweepRow) (axes []int) {
	for i, v := range r.Values {
		if v != s.Baseline[i] {
			axes = append(axes, i)
		}
	}
	return axes
}

// Simplest is the index of the first configuration that violates a property with the fewest changes from the baseline;
// -1 if none violates it.
func (s *Sweep) Simplest(p property.Property) int {
	rows := s.losing(p)
	if len(rows) == 0 {
		return -1
	}
	return rows[0]
}

// losing are the indices of the configurations that violate a property. Those with the fewest changes from the baseline
// come first.
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

// Causes are the minimal sets of values that violate a property; see [Cause].
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

// has reports whether a configuration has all values in which another differs from the baseline.
func (s *Sweep) has(r, other *SweepRow) bool {
	return !slices.ContainsFunc(s.changed(other), func(axis int) bool { return r.Values[axis] != other.Values[axis] })
}

// said describes a value on an axis: "axis=value". Sizes and faults, such as "1 crash", are described without the axis.
func (s *Sweep) said(axis int, value string) string {
	if strings.Contains(value, " ") {
		return value
	}
	return s.Axes[axis] + "=" + value
}

// String describes the cause, with the number of configurations that violate the property.
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

// causesShown is the largest number of causes that are listed for a property.
const causesShown = 8

// causes lists the causes of a property's violations; "" if there are none.
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

// Effect says how many configurations with one value on an axis violate each property.
type Effect struct {
	Value string
	Rows  int
	Lost  []int // number of violations, in the order of the table's properties
}

// Effects are the effects of the values on an axis, in the order in which the values first occur in Rows.
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

// shortfall says what is missing from the table; "" if nothing is.
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

// spelled says what a value on an axis means; "" if the value needs no explanation.
func (s *Sweep) spelled(value string) string {
	for _, m := range s.Spelled {
		if m.Value == value {
			return m.Words
		}
	}
	return ""
}

// contested are the indices of the properties that are violated, undecided, or passed without a proof in some
// configuration.
func (s *Sweep) contested() (out []int) {
	for k, p := range s.Properties {
		tally := s.Tally(p)
		if tally[Violated]+tally[Undecided]+tally[Passed] > 0 {
			out = append(out, k)
		}
	}
	return out
}

// uncontested are the properties that are not contested: those that are proved, and those that no execution put to the
// test.
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

// leftOut says which combinations were left out as impossible, and why; "" if there are none.
func (s *Sweep) leftOut() string {
	var out []string
	for _, c := range s.LeftOut {
		out = append(out, fmt.Sprintf("%s left out: %s", style.Plural(c.Number, "combination"), c.Name))
	}
	return strings.Join(out, "; ")
}

// how says how the table was made: on which server, how long it took, and with how many states.
func (s *Sweep) how() []string {
	how := []string{fmt.Sprintf("every execution of each visited on %s", s.Broker)}
	if s.Elapsed > 0 {
		how[0] += " in " + took(s.Elapsed)
	}
	return append(how, style.Plural(s.States(), "state"), "failed acquires: "+s.FailedAcquire)
}
