package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// Comparison is locks side by side: what holds of each with which faults, on the simulated server, and how fast each is on
// a real one.
type Comparison struct {
	Tool    string
	Command string    // what was typed, as a shell takes it
	At      time.Time // when it was made; the zero time where output must not differ from run to run
	// Bounds are those of the executions that were visited, in words, without the fault.
	Bounds string
	// Faults are the kinds of faults, in the order of the columns; the first is none at all. Each was visited by itself.
	Faults []string
	// Scenarios is how many executions of each lock were drawn besides, from Seed, for what operations cost and how long
	// beliefs last.
	Scenarios int
	Seed      uint64
	// Servers are the real ones that were looked for; none where only the simulated ones were to be used.
	Servers     []ComparedServer
	Clients     []int // how many used each lock on a real server at once
	Rows        []ComparedLock
	Of          int // how many locks were asked for
	Elapsed     time.Duration
	Interrupted bool
}

// ComparedServer is a real server, or why there is none.
type ComparedServer struct {
	Title   string // of the kind of server, such as "Redis"
	Version string // "" is one that is missing
	Missing string // why, and what to do
}

// ComparedLock is one lock.
type ComparedLock struct {
	Target, Doc string
	Kind        lock.Kind
	Server      string // the title of its kind of server
	// Faults are what was found with one fault of each kind, in the order of the table's.
	Faults []FaultVerdicts
	Cost   []EfficiencyRow // on the simulated server
	Stale  Overlap
	// Real is what was measured on a real server; nil where nothing was, and NotMeasured says why.
	Real        *Measured
	NotMeasured string
}

// FaultVerdicts is what is said of the properties where one fault of a kind may happen, wherever it happens.
type FaultVerdicts struct {
	Fault    string
	States   int
	Verdicts []PropertyVerdict // of those that were put to the test
	Cut      string            // why not everything was visited; "" where it was
	Command  string            // that repeats it
}

// PropertyVerdict is the verdict on a property.
type PropertyVerdict struct {
	Property property.Property
	Verdict  Verdict
}

// Measured is how fast a lock is on a real server.
type Measured struct {
	Server     string
	Operations []MeasuredOperation // of one client alone
	Loads      []MeasuredLoad
	// Free is the time from the moment at which a holder died to the moment at which another client was told that it holds
	// the lock. Lease is how long leases were, of a lock that has them.
	Free  Distribution
	Lease time.Duration
}

// MeasuredOperation is what one operation took, on average, of one client alone.
type MeasuredOperation struct {
	Operation            string
	Commands, RoundTrips float64
	Sent, Received       float64 // bytes
	Latency              Distribution
}

// MeasuredLoad is many clients that acquire and release again and again: each a lock of its own, or all one.
type MeasuredLoad struct {
	Clients          int
	Contended        bool
	Granted, Refused int // acquires
	Unknown          int // that ended without an answer
	Took             time.Duration
	Acquire          Distribution // those that were granted
	LeftOut          string       // why there is nothing else; "" where there is
}

// Rate is how many acquires were granted a second.
func (l *MeasuredLoad) Rate() float64 {
	if l.Took <= 0 {
		return 0
	}
	return float64(l.Granted) / l.Took.Seconds()
}

// Distribution is how some durations are distributed: so many lay at or below each.
type Distribution struct {
	Count                        int
	Min, P10, P50, P90, P99, Max time.Duration
}

// NewDistribution is that of some durations, which it sorts.
func NewDistribution(all []time.Duration) Distribution {
	if len(all) == 0 {
		return Distribution{}
	}
	slices.Sort(all)
	at := func(percent int) time.Duration { return all[(len(all)*percent+99)/100-1] }
	return Distribution{len(all), all[0], at(10), at(50), at(90), at(99), all[len(all)-1]}
}

// Verdict is the worst on the properties: lost, unknown, passed, proved.
func (f *FaultVerdicts) Verdict() Verdict {
	for _, worst := range []Verdict{Violated, Undecided, Passed, Proved} {
		if f.count(worst) > 0 {
			return worst
		}
	}
	return Skipped
}

func (f *FaultVerdicts) count(v Verdict) (n int) {
	for i := range f.Verdicts {
		if f.Verdicts[i].Verdict == v {
			n++
		}
	}
	return n
}

// with are the properties with a verdict.
func (f *FaultVerdicts) with(v Verdict) (out []string) {
	for i := range f.Verdicts {
		if f.Verdicts[i].Verdict == v {
			out = append(out, f.Verdicts[i].Property.String())
		}
	}
	return out
}

// mark is a table's summary of the verdicts: the worst. It has no number: locks have different properties, and how many a lock
// has is no merit.
func (f *FaultVerdicts) mark() string {
	switch f.Verdict() {
	case Violated:
		return "✗"
	case Undecided:
		return "?"
	case Passed:
		return "~"
	case Proved:
		return "✓"
	}
	return "–"
}

// Holds reports whether no property was seen lost, with whatever fault.
func (l *ComparedLock) Holds() bool {
	return !slices.ContainsFunc(l.Faults, func(f FaultVerdicts) bool { return f.Verdict() == Violated })
}

// notes explain the marks of a lock: the violated properties, the unknown ones, and why not everything was visited.
func (l *ComparedLock) notes() []string {
	lost := l.alike(func(f *FaultVerdicts) string { return saidOf("violated", f.with(Violated)) })
	for i := range l.Faults {
		if f := &l.Faults[i]; f.Verdict() == Violated {
			lost = append(lost, "see it: "+f.Command)
			break
		}
	}
	unknown := l.alike(func(f *FaultVerdicts) string { return saidOf("undecided", f.with(Undecided)) })
	return slices.Concat(lost, unknown, l.alike(func(f *FaultVerdicts) string { return f.Cut }))
}

func saidOf(what string, properties []string) string {
	if len(properties) == 0 {
		return ""
	}
	return what + ": " + strings.Join(properties, ", ")
}

// alike are notes that several faults have in common, each once.
func (l *ComparedLock) alike(note func(*FaultVerdicts) string) (out []string) {
	var said []string
	for i := range l.Faults {
		text := note(&l.Faults[i])
		if text == "" || slices.Contains(said, text) {
			continue
		}
		said = append(said, text)
		var with []string
		for k := range l.Faults {
			if note(&l.Faults[k]) == text {
				with = append(with, l.Faults[k].Fault)
			}
		}
		out = append(out, strings.Join(with, ", ")+": "+text)
	}
	return out
}

// compared are the operations with costs in tables, by name, with their cost classes: the first class that was seen
// counts.
var compared = []struct {
	name string
	of   []monitor.CostClass
}{
	{"acquire", []monitor.CostClass{monitor.AcquireFirst}}, {"refused", []monitor.CostClass{monitor.AcquireFull}},
	{"verify", []monitor.CostClass{monitor.VerifyHeld, monitor.RefreshHeld}}, {"release", []monitor.CostClass{monitor.ReleaseOK}},
}

// cost is what an operation takes on the simulated server, commands and round trips; "–" where it was not seen.
func (l *ComparedLock) cost(of []monitor.CostClass) string {
	for _, class := range of {
		for i := range l.Cost {
			if c := &l.Cost[i]; c.Operation == class.Of(l.Kind) {
				return ranged(c.Commands) + "/" + ranged(c.RoundTrips)
			}
		}
	}
	return "–"
}

// belief is how long a belief stood beside another's grant at most: virtual time, and commands.
func (l *ComparedLock) belief() string {
	if l.Stale.Scenarios == 0 {
		return "never"
	}
	return fmt.Sprintf("%s/%d", took(l.Stale.Time), l.Stale.Commands)
}

// Losers are the locks that lose a property.
func (c *Comparison) Losers() (out []string) {
	for i := range c.Rows {
		if !c.Rows[i].Holds() {
			out = append(out, c.Rows[i].Target)
		}
	}
	return out
}

// missing are the servers that are left out, a line for those that one thing keeps out.
func (c *Comparison) missing() (out []string) {
	var reasons []string
	titles := make(map[string][]string)
	for _, s := range c.Servers {
		if s.Version != "" {
			continue
		}
		if titles[s.Missing] == nil {
			reasons = append(reasons, s.Missing)
		}
		titles[s.Missing] = append(titles[s.Missing], s.Title)
	}
	for _, why := range reasons {
		out = append(out, fmt.Sprintf("left out: the real %s: %s", strings.Join(titles[why], ", "), why))
	}
	return out
}

// found are the versions of the servers that are there.
func (c *Comparison) found() (out []string) {
	for _, s := range c.Servers {
		if s.Version != "" {
			out = append(out, s.Version)
		}
	}
	return out
}

// measured reports whether anything was measured on a real server.
func (c *Comparison) measured() bool {
	return slices.ContainsFunc(c.Rows, func(l ComparedLock) bool { return l.Real != nil })
}

// shortfall says what is missing of a comparison that ended early; "" of one that is whole.
func (c *Comparison) shortfall() string {
	if len(c.Rows) == c.Of {
		return ""
	}
	return fmt.Sprintf("ended early: %d of %s were compared", len(c.Rows), style.Plural(c.Of, "lock"))
}

// how is how the comparison was come by, in words.
func (c *Comparison) how() []string {
	how := []string{
		fmt.Sprintf("on simulated servers: every execution of %s visited, with no fault and with one of each kind", c.Bounds),
		fmt.Sprintf("%s executions of each drawn besides, options by default, seed %d", style.Grouped(c.Scenarios), c.Seed),
	}
	if found := c.found(); len(found) > 0 {
		how = append(how, "on real servers: "+strings.Join(found, ", "))
	}
	if c.Elapsed > 0 {
		how = append(how, "in "+took(c.Elapsed))
	}
	return how
}

// load is the measurement with the given number of clients, or nil.
func (m *Measured) load(clients int, contended bool) *MeasuredLoad {
	for i := range m.Loads {
		if l := &m.Loads[i]; l.Clients == clients && l.Contended == contended {
			return l
		}
	}
	return nil
}

// operation is what was measured of an operation, or nil. A lock without verify has refresh.
func (m *Measured) operation(name string) *MeasuredOperation {
	at := slices.IndexFunc(m.Operations, func(o MeasuredOperation) bool { return o.Operation == name })
	switch {
	case at >= 0:
		return &m.Operations[at]
	case name == "verify":
		return m.operation("refresh")
	}
	return nil
}

// brief is a duration with three digits, such as "1.25 ms".
func brief(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		n := float64(d) / float64(unit.of)
		switch {
		case n >= 99.95:
			return fmt.Sprintf("%.0f %s", n, unit.name)
		case n >= 9.995:
			return fmt.Sprintf("%.1f %s", n, unit.name)
		case n >= 0.9995:
			return fmt.Sprintf("%.2f %s", n, unit.name)
		}
	}
	return fmt.Sprintf("%d ns", d)
}
