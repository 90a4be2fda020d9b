package recorded

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/shares"
)

// CheckOptions says how a recorded history is judged.
type CheckOptions struct {
	engine.Judging
	// Source is the file from which the history was read, or a description of its origin.
	Source string
	// Permits is the number of permits, for a history whose events name no slots. 0 means the lock's initial number of
	// slots.
	Permits int
	// Releases says which clients may release a lock. FailedRelease says whether a client whose release failed may
	// still hold the lock.
	Releases      linear.Releases
	FailedRelease linear.FailedRelease
	// Order says how events are ordered if their times contradict the order of lines.
	Order Order
	// Reentrant is the maximum number of times that a client may acquire a mutex before it releases it; it must release
	// as often as it acquired. 0 and 1 mean a mutex that is not reentrant. See [history.Reentrant].
	Reentrant int
	// Audit says that the history ends with an audit, which is judged as well: fresh clients acquire and release when
	// all others have finished. See [beliefs.Audit].
	Audit bool
}

// Order says how the events of a recording are ordered.
type Order uint8

// The ways to order events.
const (
	// BothOrders uses the order of lines. If the times contradict that order, every property is undecided.
	BothOrders Order = iota
	// ByLines uses the order of lines and ignores times.
	ByLines
	// ByTime orders events by time. Events with equal times stay in the order of lines.
	ByTime
)

var orderNames = [...]string{"both", "lines", "time"}

// String is the order's name.
func (o Order) String() string { return orderNames[o] }

// Arrange sorts the events of a history by time if the order is ByTime. An event without a time gets the time of the
// event before it.
func (o Order) Arrange(h *history.History) {
	if o != ByTime {
		return
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.Time == 0 && i > 0 {
			e.Time = h.Events[i-1].Time
		}
	}
	slices.SortStableFunc(h.Events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
}

// OrderNamed returns the order with the given name.
func OrderNamed(name string) (Order, error) {
	for o, n := range orderNames {
		if n == name {
			return Order(o), nil
		}
	}
	return 0, fmt.Errorf("%q: expected one of %q", name, orderNames)
}

// Check judges a recorded history: linearizability, and the other properties whose violations a history alone can show.
// The error is for an invalid history.
func Check(h *history.History, o CheckOptions) (*report.Report, error) {
	verdicts, err := o.judge(h)
	if err != nil {
		return nil, err
	}
	return o.report(h, verdicts), nil
}

// judge judges a history that is in memory.
func (o *CheckOptions) judge(h *history.History) ([]linear.Verdict, error) {
	if shares.Taken(h) {
		return o.shared(h)
	}
	verdicts, err := judge.History(h, o.Reading())
	if err != nil {
		return nil, err
	}
	return o.audited(h, judge.Events(h), verdicts)
}

// shared judges a history in which clients acquire several permits at once, or acquire the lock for reading.
func (o *CheckOptions) shared(h *history.History) ([]linear.Verdict, error) {
	switch {
	case o.Audit:
		return nil, fmt.Errorf("%s: --audit: clients take several permits at once, or read: expected a history in which each takes one, or no audit", o.Source)
	case o.Reentrant > 1:
		return nil, fmt.Errorf("%s: --reentrant: clients hold the lock to read: expected a history without that, or leave it out", o.Source)
	}
	verdicts, err := shares.Check(h, o.Reading())
	if malformed := (*linear.Malformed)(nil); err != nil && !errors.As(err, &malformed) {
		return nil, fmt.Errorf("%s: %w", o.Source, err)
	}
	return verdicts, err
}

// audited adds the verdicts on the audit at the end of a history, if the options ask for it.
func (o *CheckOptions) audited(h *history.History, read linear.Source, verdicts []linear.Verdict) ([]linear.Verdict, error) {
	if !o.Audit {
		return verdicts, nil
	}
	more, err := judge.Audit(h, read, o.Reading(), beliefs.Before{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Source, err)
	}
	return judge.Merge(append(verdicts, more...)), nil
}

// wholeEvents is the maximum number of events of a history that is judged in memory. Longer histories are judged while
// they are read.
const wholeEvents = 1 << 20

// CheckRecording is [Check] for a history of any length.
func CheckRecording(rec *histories.Recording, o CheckOptions) (*report.Report, error) {
	var verdicts []linear.Verdict
	h, err := rec.Whole(wholeEvents)
	switch {
	case err != nil:
	case (o.Order == ByTime || o.Reentrant > 1) && h == nil:
		return nil, fmt.Errorf("%s: more than %d events: expected fewer to order them by time, or to count how often a holder acquires", o.Source, wholeEvents)
	case h != nil:
		h = o.Arranged(h)
		verdicts, err = o.judge(h)
	default:
		h = rec.History()
		verdicts, err = o.read(rec, h)
	}
	if malformed := (*linear.Malformed)(nil); errors.As(err, &malformed) {
		return nil, fmt.Errorf("%s: %w", o.Source, err) // other errors already name the file
	} else if err != nil {
		return nil, err
	}
	r := o.report(h, verdicts)
	r.Readings = slices.Concat(rec.Notes().Readings(), o.counting(), sharing(h))
	if n := rec.Notes().Backwards; n > 0 && o.Order == BothOrders {
		unordered(r, n, ": say --order time or --order lines")
	}
	return r, nil
}

// read judges a history that is too long for memory while reading it.
func (o *CheckOptions) read(rec *histories.Recording, h *history.History) ([]linear.Verdict, error) {
	each := func(use func(*history.Event) error) error {
		return rec.Each(func(e *history.Event) error {
			if shares.Takes(e) {
				return fmt.Errorf("%s: more than %d events: expected fewer where clients take several permits at once, or read", o.Source, wholeEvents)
			}
			return use(e)
		})
	}
	verdicts, err := judge.Read(h, each, o.Reading())
	if err != nil {
		return nil, err
	}
	return o.audited(h, each, verdicts)
}

// Arranged returns the history in the form in which it is judged: ordered by Order, and without the inner acquires and
// releases of a reentrant lock.
func (o *CheckOptions) Arranged(h *history.History) *history.History {
	o.Order.Arrange(h)
	if o.Reentrant > 1 {
		h = history.Reentrant(h, o.Reentrant)
	}
	return h
}

// counting explains, for the report, how a reentrant lock's history was interpreted.
func (o *CheckOptions) counting() []string {
	if o.Reentrant < 2 {
		return nil
	}
	return []string{fmt.Sprintf("the holder may acquire the lock up to %d times, and the last release gives it back", o.Reentrant)}
}

// sharing explains, for the report, how a history with several permits at once, or with readers, was interpreted.
func sharing(h *history.History) []string {
	if !shares.Taken(h) {
		return nil
	}
	return shares.Readings(h)
}

// unordered makes every judged property undecided, as n events of the history have an earlier time than one before.
// more is the end of the reason: what to do.
func unordered(r *report.Report, n int, more string) {
	for i := range r.Properties {
		if p := &r.Properties[i]; p.Skip == "" && (p.Checked > 0 || p.Violation != nil) {
			p.Checked, p.Violation, p.Undecided = 0, nil, 1
			p.Unclear = fmt.Sprintf("%s an earlier time than one before: which was first is not known%s", has(n), more)
		}
	}
}

// has returns "1 event has" or "n events have".
func has(n int) string {
	if n == 1 {
		return "1 event has"
	}
	return style.Plural(n, "event") + " have"
}

// report creates the report about a history.
func (o *CheckOptions) report(h *history.History, verdicts []linear.Verdict) *report.Report {
	r := &report.Report{
		Tool: engine.Version, Target: h.Kind.String(), Kind: h.Kind, Mode: report.Recorded, Source: o.Source,
		FailedAcquire: o.FailedAcquire.String(), Scenarios: 1,
	}
	judged, applicable := make(map[property.Property]linear.Verdict), property.Applicable(h.Kind)
	for _, v := range verdicts {
		judged[v.Property] = v
		applicable = applicable.With(v.Property)
	}
	r.Operations = judged[property.Linearizable].Checked
	silence := judged[property.Linearizable].Unjudged
	asked := o.Properties
	if property.Applicable(h.Kind)&^asked == 0 { // all properties were asked for: add all that the history can show
		asked = 0
	}
	asked = engine.JudgedOf(applicable, asked)
	for p := range property.Count {
		if asked.Has(p) {
			v, ok := judged[p]
			if ok && v.Unjudged == "" && v.Checked == 0 {
				v.Unjudged = silence
			}
			res := fromHistory(h, p, v, ok)
			res.Note = o.note(p)
			r.Properties = append(r.Properties, res)
		}
	}
	for i, p := range o.Own {
		r.Properties = append(r.Properties, report.PropertyResult{Property: own.ID(i), Own: p, Evidence: property.FromTruth, Skip: notShown})
	}
	return r
}

// Reading returns the options for checking linearizability.
func (o *CheckOptions) Reading() linear.Options {
	return linear.Options{FailedAcquire: o.FailedAcquire, Permits: o.Permits, Releases: o.Releases, FailedRelease: o.FailedRelease}
}

// note names the choices under which a property was judged, for example who may release a lock. It is "" for most
// properties.
func (o *CheckOptions) note(p property.Property) string {
	switch p {
	case property.Linearizable:
		return fmt.Sprintf("%s; releases by others: %s", o.FailedAcquire.Note(), o.Releases)
	case property.MutualExclusion:
		return fmt.Sprintf("releases by others: %s; a failed release %s a belief", o.Releases, o.FailedRelease)
	}
	return ""
}

// notShown explains why a property is skipped that needs the server's state or the commands sent.
const notShown = "not shown by a history alone: it takes a server, real or simulated"

// fromHistory returns the result for property p from its verdict v. If the history has several locks, a violation names
// the lock.
func fromHistory(h *history.History, p property.Property, v linear.Verdict, judged bool) report.PropertyResult {
	r := report.PropertyResult{Property: p, Evidence: property.FromHistory, Checked: v.Checked, Scenarios: 1}
	switch {
	case !judged:
		r.Skip = notShown
	case v.Unjudged != "":
		r.Checked, r.Skip = 0, v.Unjudged
	case v.Decision == linear.Undecided:
		r.Checked, r.Undecided, r.Unclear = 0, 1, v.Why
	case v.Decision == linear.Illegal:
		r.Violation = &report.Found{Detail: v.Why}
		if len(h.Locks) > 1 {
			r.Violation.Detail = h.Locks[v.Lock] + ": " + v.Why
		}
	}
	return r
}
