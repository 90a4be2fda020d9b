package anynumber

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
	"github.com/lockproof/lockproof/sim/search/states"
)

// Bounds is a configuration with any number of clients. Each client repeats its operations forever.
type Bounds struct {
	// Bounds configures what does not depend on the number of clients. Each of its Clients exists exactly once, and the
	// search follows it individually.
	sim.Bounds
	// Any has one workload for each kind of client of which there are any number.
	Any []scenario.Client
	// Slots bounds the number of slots at any moment. The search does not follow a step to more slots; it then ends
	// with [search.AtSlots]. If Slots is 0, [Bounds.MostSlots] chooses the bound: the initial number, plus the slots
	// that one pass through the operations of each of Clients and Any adds.
	Slots int
	// Whole makes contexts store the whole state of each holder instead of only what others see of it. There are many
	// more contexts then, and fewer spurious violations.
	Whole bool
	// Named says that the last of Clients represents any one client of the first kind in Any. Only this client's
	// actions are judged, and not those of the other clients of the kind. All clients of the kind are equal, so no
	// violation is lost. Contexts have the client's exact state, so there are fewer spurious violations.
	Named bool
}

// Check returns an error that says why the configuration cannot be searched for any number of clients, or nil.
func (b *Bounds) Check() error {
	with := newPlan(*b).bounds
	if err := with.Check(); err != nil {
		return err
	}
	switch {
	case len(b.Any) == 0:
		return errors.New("no client of which there is any number: expected at least one workload")
	case b.Named && len(b.Clients) == 0:
		return errors.New("no client stands for the others")
	case !sim.NewSystem(with).Independent():
		return errors.New("any number of clients: what one does can depend on more of the others than what they hold: clients share a connection, time makes a difference, or there is more than one lock")
	}
	return nil
}

// Options configures a search for any number of clients.
type Options struct {
	// Workers is the number of parallel workers; 0 is one for each processor. The result does not depend on it.
	Workers int
	// Memory is the maximal number of bytes in use; 0 is no bound.
	Memory int64
	// First ends the search after the first round that finds a violation.
	First bool
	// Progress is called about every second, and at the end. It may be nil.
	Progress func(*Stats)
	// Checkpoint is the file to which the search is saved, with Note, if it ends early. If Every is not 0, the search
	// is also saved at that interval. Resume is the checkpoint to continue from, or "". Its bounds must be the same;
	// other options may differ.
	Checkpoint string
	Every      time.Duration
	Resume     string
	Note       []byte
}

// Stats are the statistics of a search for any number of clients.
type Stats struct {
	Contexts    int64  // combinations of a state's shared part and the roles of all holders
	Views       int64  // pairs of a context and a part that one client can have in it
	Parts       [2]int // numbers of shared parts and of clients' parts
	Steps       int64  // steps between contexts, each with its effect on the other clients
	Rounds      int
	Holders     int   // the largest number of holders in one context
	Unwitnessed int64 // operations completed while the monitor had no linearization
	Bytes       int64
	// Pending is the number of contexts that are left for the next round.
	Pending int
}

// Result is the result of a search for any number of clients.
type Result struct {
	Stats
	// Stop is Finished if no step leads to a new view: the views then cover every execution of any number of clients.
	// It is AtSlots if they cover every execution except those with more slots at once than the bound.
	Stop     search.Stop
	Found    property.Set
	Coverage search.Coverage
	// Solo is the result of running each client alone. It is computed if progress is judged.
	Solo Solo
	// Err names an assumption of the search that does not hold. If Stop is Refused, it says why the search did not
	// begin.
	Err error
	// Unsaved is the error of writing the latest checkpoint, or nil.
	Unsaved error

	search *exploration
}

// exploration is the state of a search that is under way.
type exploration struct {
	*plan
	ctx         context.Context
	opts        Options
	contexts    contexts
	effects     effectTable
	dirty       []*viewContext // contexts to process in the next round
	next        atomic.Int64   // index in dirty of the next context to process
	stop        search.Stop
	told        time.Time
	mu          sync.Mutex
	found       [property.Count]map[*viewContext]bool // indexed by property: the contexts in which a step violates it
	res         Result
	unwitnessed atomic.Int64
	cut         bool // the search exceeded the bound of slots before it was resumed
	workers     []*worker
	saved       time.Time // when the last checkpoint was written
}

// plan is the part of a search that its workers share.
type plan struct {
	bounds sim.Bounds // configuration with one client of each class
	slots  int
	whole  bool
	named  bool
	// viewOf returns what other clients see of a client, and effectOf what an action changes for them; tests replace
	// both. With thorough, the search also checks that each action has the same effect on every other client, and does
	// not depend on two other clients at once.
	viewOf   func(sys *sim.System, n int) []byte
	effectOf func(sim.Effect) sim.Effect
	thorough bool

	fixed   int // number of classes with exactly one client; these come first
	shared  *states.Table
	clients *states.Table
	views   *states.Views // view 0 is that of a client that has not begun and holds nothing
	roles   *roles
}

// Run visits an abstraction of all executions: every context, with every part that a client can have in it. Unless Run
// ends early, the abstraction covers every execution of any number of clients. README.md says what that proves.
//
// The search proceeds in rounds. Each round executes all new actions of the pending contexts; the next round processes
// the results. The result of a round therefore does not depend on the number of workers.
func Run(ctx context.Context, b Bounds, opts Options) *Result {
	s := newExploration(ctx, b, opts)
	r := s.run()
	return r
}

func (s *exploration) run() *Result {
	if s.opts.Resume == "" {
		s.workers[0].begin()
	} else if err := s.resume(s.opts.Resume); err != nil {
		return &Result{Stop: search.Refused, Err: err}
	}
	for s.collect(); len(s.dirty) > 0 && s.stop == search.Finished; s.collect() {
		if s.due() {
			s.save()
		}
		s.round()
		s.check()
	}
	if len(s.dirty) > 0 && s.opts.Checkpoint != "" && s.stop != search.Unsound && s.stop != search.AtHolders {
		s.save()
	}
	return s.finish()
}

func newExploration(ctx context.Context, b Bounds, opts Options) *exploration {
	if opts.Workers == 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	s := &exploration{plan: newPlan(b), ctx: ctx, opts: opts, told: time.Now(), saved: time.Now()}
	s.contexts.ids = make(map[string]*viewContext)
	s.effects.ids = make(map[sim.Effect]uint32)
	for range opts.Workers {
		s.workers = append(s.workers, newWorker(s))
	}
	return s
}

func newPlan(b Bounds) *plan {
	p := &plan{
		bounds: b.Bounds, fixed: len(b.Clients), whole: b.Whole, named: b.Named,
		shared: states.NewTable(), clients: states.NewTable(), views: states.NewViews(), roles: &roles{ids: make(map[role]uint32)},
	}
	p.viewOf = func(sys *sim.System, n int) []byte { return sys.View(n, nil) }
	p.effectOf = func(e sim.Effect) sim.Effect { return e.Kept(b.Properties) }
	p.bounds.Clients = slices.Concat(b.Clients, b.Any)
	p.bounds.Forever = true
	p.slots = b.MostSlots()
	return p
}

// MostSlots returns the largest number of slots at once that the search follows.
func (b *Bounds) MostSlots() int {
	switch {
	case b.Target.Kind == lock.Mutex:
		return 1
	case b.Slots > 0:
		return b.Slots
	}
	first := int(b.Locks[0].Slots)
	most := first
	for _, c := range slices.Concat(b.Clients, b.Any) {
		most += added(first, c.Ops)
	}
	return min(most, monitor.Slots-1)
}

// added returns by how many slots a client can raise the lock above its initial number (first) while it calls the
// operations once.
func added(first int, ops []scenario.Operation) int {
	now, most := first, first
	for _, o := range ops {
		switch o.Op {
		case lock.Create:
			now = max(now, int(o.Arg))
		case lock.Add:
			now += int(o.Arg)
		case lock.Remove:
			now = max(0, now-int(o.Arg))
		case lock.Destroy:
			now = 0
		}
		most = max(most, now)
	}
	return most - first
}

// round processes all pending contexts: those with new parts or steps.
func (s *exploration) round() {
	var wg sync.WaitGroup
	s.next.Store(0)
	for _, w := range s.workers {
		wg.Go(func() {
			for s.ctx.Err() == nil {
				i := s.next.Add(1) - 1
				if i >= int64(len(s.dirty)) {
					return
				}
				w.process(s.dirty[i])
			}
		})
	}
	wg.Wait()
	s.dirty = s.dirty[min(int(s.next.Load()), len(s.dirty)):]
	s.res.Rounds++
}

// collect gathers the contexts to process in the next round: those that the workers made pending, and those that the
// last round did not process.
func (s *exploration) collect() {
	s.dirty = slices.Clone(s.dirty)
	for _, w := range s.workers {
		s.dirty = append(s.dirty, w.dirty...)
		w.dirty = w.dirty[:0]
	}
	slices.SortFunc(s.dirty, func(a, b *viewContext) int { return cmp.Compare(a.id, b.id) })
	s.dirty = slices.Compact(s.dirty)
	for _, g := range s.dirty {
		g.admit()
	}
}

// check ends the search between two rounds if an assumption fails, the context ends, or memory exceeds the bound.
func (s *exploration) check() {
	crowded := false
	for _, w := range s.workers {
		crowded = crowded || w.crowded
		s.res.Err = firstError(s.res.Err, w.err)
	}
	telling := s.opts.Progress != nil && time.Since(s.told) >= search.TellEvery
	if s.opts.Memory > 0 || telling {
		s.measure()
	}
	switch {
	case s.res.Err != nil:
		s.stop = search.Unsound
	case crowded:
		s.stop = search.AtHolders
	case s.ctx.Err() != nil:
		s.stop = search.Interrupted
	case s.opts.First && s.violations() != 0:
		s.stop = search.AtViolation
	case s.opts.Memory > 0 && s.res.Bytes > s.opts.Memory:
		s.stop = search.AtMemory
	}
	if telling {
		s.opts.Progress(&s.res.Stats)
		s.told = time.Now()
	}
}

// measure computes the statistics that the workers do not count.
func (s *exploration) measure() {
	r := &s.res.Stats
	r.Parts = [2]int{int(s.shared.Len()), int(s.clients.Len())}
	r.Contexts, r.Views, r.Steps, r.Holders, r.Bytes = s.contexts.measure(r.Parts[1])
	r.Bytes += s.shared.Size() + s.clients.Size()
	r.Unwitnessed, r.Pending = s.unwitnessed.Load(), len(s.dirty)
}

func (s *exploration) finish() *Result {
	r := &s.res
	if r.search = s; len(s.dirty) > 0 || s.stop == search.Unsound || s.stop == search.AtHolders {
		r.Stop = s.stop // if only slots were cut off, all views within the bound are complete
	}
	s.measure()
	for _, w := range s.workers {
		r.Coverage.Merge(&w.cover)
	}
	if r.Stop == search.Finished && s.bounds.Properties.Has(property.Progress) {
		if r.Solo = s.workers[0].solo(); r.Solo.Endless {
			r.Found = r.Found.With(property.Progress)
		}
	}
	if r.Stop == search.Finished && s.beyond() {
		r.Stop = search.AtSlots
	}
	r.Found |= s.violations()
	if s.opts.Progress != nil {
		s.opts.Progress(&r.Stats)
	}
	return r
}

// beyond reports whether the search left out a step to more slots than the bound.
func (s *exploration) beyond() bool {
	return s.cut || slices.ContainsFunc(s.workers, func(w *worker) bool { return w.beyond })
}

// violations returns the properties that were found violated.
func (s *exploration) violations() (set property.Set) {
	for p := range property.Count {
		if len(s.found[p]) > 0 {
			set = set.With(p)
		}
	}
	return set
}

// violated records that a step in a context violates the given properties.
func (s *exploration) violated(found property.Set, in *viewContext) {
	if found == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range property.Count {
		if found.Has(p) {
			if s.found[p] == nil {
				s.found[p] = make(map[*viewContext]bool)
			}
			s.found[p][in] = true
		}
	}
}
