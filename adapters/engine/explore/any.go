package explore

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
	"github.com/lockproof/lockproof/sim/search/anynumber"
)

// AnyNumber is used as the number of clients, administrators or faults of an [Exploration]. A property that is then
// proved holds for every number of them.
const AnyNumber = sim.AnyNumber

// Bounds of the search for an execution of real clients that violates what the abstraction violates. The search begins
// with one client of each kind, and adds one at a time up to realClients. For each number of clients it visits at most
// realStates states.
const (
	realClients = 5
	realStates  = 1_000_000
)

// Bounds of the search for the cut-off, the number of real clients whose executions show every view of the abstraction:
// at most cutoffClients clients of each kind, and at most cutoffStates states per search.
const (
	cutoffClients = 4
	cutoffStates  = 200_000
)

// anyExploration is an exploration in progress, for any number of clients.
type anyExploration struct {
	*Exploration
	ctx    context.Context
	bounds anynumber.Bounds
	report *report.Report
	views  *report.Views
	traces map[property.Property]*scenario.Trace

	states  int     // maximum number of states to visit with real clients, for each number of clients
	note    anyNote // conclusions that were reached before the current search
	unsaved error   // error of writing a checkpoint
	ended   bool    // the run was interrupted; properties that were still to be searched are reported as not visited
}

// exploreAny visits an abstraction that covers every number of clients. Properties that depend on different parts of a
// client's past have a search each, because a search that stores less of the past has fewer states.
func exploreAny(ctx context.Context, e *Exploration) (*Explored, error) {
	x, err := newAnyExploration(ctx, e)
	if err != nil {
		return nil, err
	}
	return x.explore()
}

func newAnyExploration(ctx context.Context, e *Exploration) (*anyExploration, error) {
	b, err := e.anyBounds()
	if err != nil {
		return nil, engine.Configuration(err)
	}
	x := &anyExploration{states: realStates, Exploration: e, ctx: ctx, bounds: b, views: new(report.Views), traces: make(map[property.Property]*scenario.Trace)}
	x.report = &report.Report{
		Tool: engine.Version, Target: b.Target.Name, Doc: b.Target.Doc, Kind: b.Target.Kind, Mode: report.Visited,
		Broker: engine.SimulatedOf(b.Target), FailedAcquire: e.FailedAcquire.String(), Bounds: x.described(), Fixed: engine.Assigned(e.Options), Views: x.views,
	}
	return x, nil
}

func (x *anyExploration) explore() (*Explored, error) {
	if err := x.resume(); err != nil {
		return nil, err
	}
	for _, group := range together(x.bounds.Properties) {
		if err := x.visit(group); err != nil {
			return nil, err
		}
	}
	if why := x.unjudged(x.bounds.Target.Kind, property.Linearizable); why != "" {
		p := property.Linearizable
		x.report.Properties = append(x.report.Properties, report.PropertyResult{Property: p, Evidence: p.Evidence(), Skip: why})
	}
	slices.SortFunc(x.report.Properties, func(a, b report.PropertyResult) int { return int(a.Property) - int(b.Property) })
	x.report.Interrupted = x.ctx.Err() != nil
	return &Explored{Unsaved: x.unsaved, Result: engine.Result{
		Report: x.report, Traces: x.traces, Labels: engine.Labels{FailedAcquire: x.FailedAcquire, Origin: x.origin()},
	}}, nil
}

// anyBounds returns the configuration with defaults filled in, after checking it.
func (e *Exploration) anyBounds() (anynumber.Bounds, error) {
	one := *e
	one.Rounds = 1
	if e.Clients == AnyNumber {
		one.Clients = 1
	}
	if e.Admins == AnyNumber {
		one.Admins = 1
	}
	b, err := one.Bounds()
	if err != nil {
		return anynumber.Bounds{}, err
	}
	out := anynumber.Bounds{Bounds: b, Slots: e.MostSlots}
	out.Clients = nil
	for i, c := range b.Clients {
		if n := e.Clients; i < one.Clients && n == AnyNumber || i >= one.Clients && e.Admins == AnyNumber {
			out.Any = append(out.Any, c)
		} else {
			out.Clients = append(out.Clients, c)
		}
	}
	return out, out.Check()
}

// together groups properties by search. One search judges all properties that do not depend on a client's past. Each
// other property has a search of its own.
func together(all property.Set) (sets []property.Set) {
	var free property.Set
	for p := range property.Count {
		switch {
		case !all.Has(p):
		case monitor.Memoryless(1 << p):
			free = free.With(p)
		default:
			sets = append(sets, 1<<p)
		}
	}
	if free != 0 {
		sets = append([]property.Set{free}, sets...)
	}
	return sets
}

// visit searches for violations of a group of properties and reports the results.
func (x *anyExploration) visit(group property.Set) error {
	switch {
	case x.report.Result(first(group)) != nil: // the interrupted run, which this one resumes, has judged the group
		return nil
	case x.ended:
		x.notBegun(group)
		return nil
	}
	b := x.bounds
	b.Properties = group
	r, err := x.begin(b)
	if err != nil {
		return err
	}
	x.count(r)
	x.cutoff(r)
	from := len(x.report.Properties)
	for p := range property.Count {
		if group.Has(p) {
			res, err := x.judge(r, p)
			if err != nil {
				return err
			}
			x.report.Properties = append(x.report.Properties, res)
		}
	}
	x.conclude(r, x.report.Properties[from:])
	x.ended = x.ctx.Err() != nil
	return nil
}

// first returns the first property of a set.
func first(set property.Set) property.Property {
	return property.Property(bits.TrailingZeros32(uint32(set)))
}

// notBegun reports that the run ended before it searched for violations of the properties in group.
func (x *anyExploration) notBegun(group property.Set) {
	for p := range property.Count {
		if group.Has(p) {
			x.report.Properties = append(x.report.Properties, report.PropertyResult{
				Property: p, Evidence: property.Properties[p].Evidence, Undecided: 1, Unclear: "interrupted before views were looked at for it",
			})
		}
	}
}

// begin searches for violations of the properties in b. It resumes an earlier search from a checkpoint if the user
// wants that, and if that search judged the same properties.
func (x *anyExploration) begin(b anynumber.Bounds) (*anynumber.Result, error) {
	o := x.options()
	o.Checkpoint, o.Every, o.Note = x.Search.Checkpoint, x.Search.Every, x.note.with(b.Properties)
	if x.Search.Resume != "" && slices.Equal(x.note.Searched, b.Properties.Names()) {
		o.Resume = x.Search.Resume
	}
	r := anynumber.Run(x.ctx, b, o)
	switch {
	case r.Stop == search.Refused:
		return nil, r.Err
	case r.Err != nil:
		return nil, fmt.Errorf("exploring %s for any number of clients: %w: it can be explored for a number of them", b.Target.Name, r.Err)
	}
	x.unsaved = cmp.Or(x.unsaved, r.Unsaved)
	return r, nil
}

func (x *anyExploration) options() anynumber.Options {
	return anynumber.Options{Workers: x.Search.Workers, Memory: x.Search.Memory, First: x.Search.First, Progress: x.ViewsProgress}
}

// judge returns the result for one property after a search.
func (x *anyExploration) judge(r *anynumber.Result, p property.Property) (report.PropertyResult, error) {
	res := report.PropertyResult{Property: p, Evidence: property.Properties[p].Evidence}
	if r.Coverage.Exercised.Has(p) || p == property.Linearizable && len(r.Coverage.Results) > 0 {
		res.Checked = int(r.Views)
	}
	if p == property.Linearizable {
		res.Note = x.FailedAcquire.Note()
	}
	unwitnessed := p == property.Linearizable && r.Unwitnessed > 0
	switch {
	case r.Found.Has(p) || unwitnessed:
		return x.suspect(r, p, res)
	case r.Stop != search.Finished:
		res.Undecided, res.Unclear = 1, x.unclosed(r.Stop)
	case p == property.Progress && r.Solo.Known:
		res.Note = fmt.Sprintf("whoever runs alone from any moment on ends its operation in at most %s", counted(r.Solo.Steps, "command"))
	}
	return res, nil
}

// described returns the configuration in words. It includes the bound on slots if administrators could create more.
func (x *anyExploration) described() string {
	e := *x.Exploration
	if most := x.bounds.MostSlots(); e.Admins != 0 && x.bounds.Target.Kind == lock.Semaphore {
		e.MostSlots = most
	}
	return e.Described()
}

// unclosed says why an incomplete search proves nothing.
func (x *anyExploration) unclosed(why search.Stop) string {
	if why == search.AtSlots {
		return fmt.Sprintf("administrators make more than %s at once, which was not followed; --most-slots sets the bound", counted(x.bounds.MostSlots(), "slot"))
	}
	return anyCut[why]
}

// anyCut says, for each reason to stop, why a search did not visit everything.
var anyCut = map[search.Stop]string{
	search.AtMemory:    "the views are not closed: ended at the bound of memory",
	search.AtViolation: "the views are not closed: ended at the first violation",
	search.Interrupted: "the views are not closed: interrupted",
	search.AtHolders:   "the views are not closed: more clients hold something at once than a world has room for",
}

// closer lists more precise versions of the abstraction, from cheap to expensive. They are tried if the abstraction
// shows a violation for which no real execution was found.
var closer = []struct {
	whole, named bool
	note         string
}{
	{whole: true, note: "clients that hold something followed together"},
	{whole: true, named: true, note: "clients that hold something followed together, with one that does not"},
}

// suspect handles a property p that the abstraction violates. It searches for an execution of real clients that
// violates p. If it finds none, it tries more precise abstractions.
func (x *anyExploration) suspect(r *anynumber.Result, p property.Property, res report.PropertyResult) (report.PropertyResult, error) {
	tried, err := x.real(r, p, &res)
	if err != nil || res.Violation != nil {
		return res, err
	}
	for _, c := range closer {
		b := x.bounds
		b.Properties, b.Whole, b.Named = 1<<p, c.whole, c.named
		if c.named {
			b.Clients = append(slices.Clone(b.Clients), b.Any[0])
		}
		r := anynumber.Run(x.ctx, b, x.options())
		x.count(r)
		if r.Stop == search.Finished && !r.Found.Has(p) && (p != property.Linearizable || r.Unwitnessed == 0) {
			res.Note = strings.TrimPrefix(res.Note+"; "+c.note, "; ")
			return res, nil
		}
		tried += "; " + c.note + ": " + cmp.Or(x.unclosed(r.Stop), "violated there too")
	}
	res.Undecided, res.Unclear = 1, tried
	return res, nil
}

// real searches for an execution of real clients that violates p. It begins with one client of each kind and adds one
// at a time. tried describes the search if it finds nothing.
func (x *anyExploration) real(r *anynumber.Result, p property.Property, res *report.PropertyResult) (tried string, err error) {
	tried = "seen violated in the abstraction; no execution was looked for"
	for n := 1; n <= realClients && x.ctx.Err() == nil; n++ {
		b := forLong(r.Bounds(n))
		if len(b.Clients) > lock.MaxClients {
			break
		}
		found, whole := r.Real(x.ctx, 1<<p, n, x.states, illegal(&b))
		if actions, ok := found[p]; ok {
			t, err := shortened(x.ctx, new(sim.Runner), &b, p, actions)
			if err != nil {
				return "", err
			}
			x.traces[p], res.Violation = t, engine.FoundIn(t, p)
			return "", nil
		}
		if !whole {
			return fmt.Sprintf("seen violated in the abstraction; none of %d states of %s of each kind shows it", x.states, counted(n, "client")), nil
		}
		tried = fmt.Sprintf("seen violated in the abstraction; no execution of up to %s of each kind shows it", counted(n, "client"))
	}
	return tried, nil
}

// forLong replaces clients that repeat their operations forever by clients with as many operations as a scenario may
// have.
func forLong(b sim.Bounds) sim.Bounds {
	b.Forever = false
	b.Clients = slices.Clone(b.Clients)
	for i := range b.Clients {
		ops := b.Clients[i].Ops
		b.Clients[i].Ops = slices.Repeat(ops, max(1, scenario.MaxOperations/len(ops)))
	}
	return b
}

// any reports whether the number of clients or of administrators is [AnyNumber]. States then cannot be visited one by
// one.
func (e *Exploration) any() bool { return e.Clients == AnyNumber || e.Admins == AnyNumber }

// count adds the size of a search to the report, for example its numbers of contexts and of views.
func (x *anyExploration) count(r *anynumber.Result) {
	v := x.views
	v.Searches++
	v.Contexts += int(r.Contexts)
	v.Views += int(r.Views)
	v.Parts = max(v.Parts, r.Parts[1])
	v.Holders = max(v.Holders, r.Holders)
}

// closed reports whether a search has visited everything within its bounds.
func closed(r *anynumber.Result) bool { return r.Stop == search.Finished || r.Stop == search.AtSlots }

// cutoff determines how many real clients are enough to reach all views of a search, and adds that number to the
// report.
func (x *anyExploration) cutoff(r *anynumber.Result) {
	if x.Brief || !closed(r) {
		return
	}
	v, first := x.views, x.views.Tried == 0
	c := r.Cutoff(x.ctx, cutoffClients, cutoffStates)
	switch v.Tried = max(v.Tried, c.Tried); {
	case c.Clients == 0 || !first && v.Cutoff == 0:
		v.Cutoff = 0
	default:
		v.Cutoff = max(v.Cutoff, c.Clients)
	}
}
