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

// Comparison compares locks: which properties hold with which faults on simulated servers, and how fast each lock is on
// a real server.
type Comparison struct {
	Tool    string
	Command string    // the command as typed, quoted for a shell
	At      time.Time // time of creation; zero if the output must be reproducible
	// Bounds describes the visited executions in words, without their faults.
	Bounds string
	// Faults are the kinds of faults, in the order of the columns. The first is "no fault". Executions with each kind
	// were visited separately.
	Faults []string
	// Scenarios is the number of extra executions of each lock, drawn from Seed. They measure the costs of operations
	// and how long stale beliefs last.
	Scenarios int
	Seed      uint64
	// Servers are the real servers that were looked for. It is empty if only simulated ones were asked for.
	Servers     []ComparedServer
	Clients     []int // numbers of concurrent clients in the measurements on real servers
	Rows        []ComparedLock
	Of          int // number of locks that were asked for
	Elapsed     time.Duration
	Interrupted bool
}

// ComparedServer is a real server, or says why it was not found.
type ComparedServer struct {
	Title   string // name of the kind of server, such as "Redis"
	Version string // version of the server; "" if none was found
	Missing string // why the server was not found, and what to do
}

// ComparedLock has the results for one lock.
type ComparedLock struct {
	Target, Doc string
	Kind        lock.Kind
	Server      string // name of the lock's kind of server
	// Faults are the verdicts for each kind of fault, in the order of Comparison.Faults.
	Faults []FaultVerdicts
	Cost   []EfficiencyRow // costs on the simulated server
	Stale  Overlap
	// Real has the measurements on a real server. If it is nil, NotMeasured is the reason.
	Real        *Measured
	NotMeasured string
}

// FaultVerdicts are the verdicts on a lock if one fault of a kind may happen at any moment.
type FaultVerdicts struct {
	Fault    string
	States   int
	Verdicts []PropertyVerdict // verdicts on the properties that executions put to the test
	Cut      string            // reason why not all executions were visited; "" if all were
	Command  string            // command that repeats the exploration
}

// PropertyVerdict is the verdict on one property.
type PropertyVerdict struct {
	Property property.Property
	Verdict  Verdict
}

// Measured has the measurements of one lock on a real server.
type Measured struct {
	Server     string
	Operations []MeasuredOperation // operations of a single client
	Loads      []MeasuredLoad
	// Free is the time from the death of a holder to the next grant to another client. Lease is the duration of the
	// lock's leases; 0 if it has none.
	Free  Distribution
	Lease time.Duration
}

// MeasuredOperation is the average cost of one operation, called by a single client.
type MeasuredOperation struct {
	Operation            string
	Commands, RoundTrips float64
	Sent, Received       float64 // bytes
	Latency              Distribution
}

// MeasuredLoad is the result of a load: many clients acquire and release repeatedly. Each client has its own lock, or
// all use the same one (Contended).
type MeasuredLoad struct {
	Clients          int
	Contended        bool
	Granted, Refused int // number of acquires
	Unknown          int // number of acquires without an answer
	Took             time.Duration
	Acquire          Distribution // durations of the granted acquires
	LeftOut          string       // reason why there are no results; "" if there are
}

// Rate is the number of granted acquires per second.
func (l *MeasuredLoad) Rate() float64 {
	if l.Took <= 0 {
		return 0
	}
	return float64(l.Granted) / l.Took.Seconds()
}

// Distribution has the quantiles of a number of measured durations.
type Distribution struct {
	Count                        int
	Min, P10, P50, P90, P99, Max time.Duration
}

// NewDistribution returns the distribution of these durations. It sorts them.
func NewDistribution(all []time.Duration) Distribution {
	if len(all) == 0 {
		return Distribution{}
	}
	slices.Sort(all)
	at := func(percent int) time.Duration { return all[(len(all)*percent+99)/100-1] }
	return Distribution{len(all), all[0], at(10), at(50), at(90), at(99), all[len(all)-1]}
}

// Verdict is the worst verdict on the properties, in the order violated, undecided, passed, proved.
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

// with are the names of the properties with this verdict.
func (f *FaultVerdicts) with(v Verdict) (out []string) {
	for i := range f.Verdicts {
		if f.Verdicts[i].Verdict == v {
			out = append(out, f.Verdicts[i].Property.String())
		}
	}
	return out
}

// mark is the mark of the worst verdict, for a table. It does not show the number of verdicts, since locks have
// different numbers of properties.
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

// Holds reports whether no property was violated with any kind of fault.
func (l *ComparedLock) Holds() bool {
	return !slices.ContainsFunc(l.Faults, func(f FaultVerdicts) bool { return f.Verdict() == Violated })
}

// notes explain a lock's marks in the table: which properties are violated or undecided, and why not everything was
// visited.
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

// alike are notes about the faults. A note that is the same for several faults is listed once, with all their names.
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

// compared are the operations whose costs the tables show. Each has a list of cost classes, of which the first that
// occurred is shown.
var compared = []struct {
	name string
	of   []monitor.CostClass
}{
	{"acquire", []monitor.CostClass{monitor.AcquireFirst}}, {"refused", []monitor.CostClass{monitor.AcquireFull}},
	{"verify", []monitor.CostClass{monitor.VerifyHeld, monitor.RefreshHeld}}, {"release", []monitor.CostClass{monitor.ReleaseOK}},
}

// cost is the cost of an operation on the simulated server, as commands/round trips; "–" if the operation did not
// occur.
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

// belief is the longest time for which a stale belief overlapped another client's grant, as virtual time/commands.
func (l *ComparedLock) belief() string {
	if l.Stale.Scenarios == 0 {
		return "never"
	}
	return fmt.Sprintf("%s/%d", took(l.Stale.Time), l.Stale.Commands)
}

// Losers are the names of the locks that violate some property.
func (c *Comparison) Losers() (out []string) {
	for i := range c.Rows {
		if !c.Rows[i].Holds() {
			out = append(out, c.Rows[i].Target)
		}
	}
	return out
}

// missing lists the real servers that were not found, one line for each reason.
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

// found are the versions of the real servers that were found.
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

// shortfall says how many locks are missing from a comparison that ended early; "" if none is.
func (c *Comparison) shortfall() string {
	if len(c.Rows) == c.Of {
		return ""
	}
	return fmt.Sprintf("ended early: %d of %s were compared", len(c.Rows), style.Plural(c.Of, "lock"))
}

// how says how the comparison was made: on which servers, with how many executions, and how long it took.
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

// load is the measurement with this number of clients; nil if there is none.
func (m *Measured) load(clients int, contended bool) *MeasuredLoad {
	for i := range m.Loads {
		if l := &m.Loads[i]; l.Clients == clients && l.Contended == contended {
			return l
		}
	}
	return nil
}

// operation is the measurement of an operation; nil if there is none. If a lock has no verify, its refresh counts as
// verify.
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

// brief writes a duration with three digits, such as "1.25 ms".
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
