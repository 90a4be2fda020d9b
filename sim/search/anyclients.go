package search

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
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
)

// AnyBounds is a configuration with any number of clients, each of which goes through its operations
// again and again.
type AnyBounds struct {
	// Bounds has what does not depend on their number. Its Clients are there once each, and followed
	// one by one.
	sim.Bounds
	// Any are the workloads of which any number of clients has each.
	Any []scenario.Client
	// Slots bounds how many slots there are at once: what would make more of them is not followed. 0 is as
	// many as there are at first.
	Slots int
	// Named says that the last of Clients stands for any of those of which there is any number, and is the
	// only one whose actions are judged. As they are alike, nothing is lost by that; what is seen of it beside
	// others is exact, so that fewer violations are seen that no execution has.
	Named bool
}

// Check reports why a configuration can't be searched for any number of clients.
func (b *AnyBounds) Check() error {
	with := newAnyPlan(*b).bounds
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

// AnyOptions say how to search.
type AnyOptions struct {
	// Workers is how many search at once; 0 is one for each processor. What is found does not depend on it.
	Workers int
	// Memory ends the search when about so many bytes are in use; 0 is no bound.
	Memory int64
	// First ends the search once something is violated.
	First bool
	// Progress is told about every second how far the search is, and at the end. It may be nil.
	Progress func(*AnyStats)
}

// AnyStats are the numbers of a search for any number of clients.
type AnyStats struct {
	Contexts int64 // what is shared, with the parts of all clients that hold something
	Views    int64 // a context and the part of one client that holds nothing
	Parts    [2]int
	Steps    int64 // from context to context, each with what it does to those who watch
	Rounds   int
	Holders  int   // the most clients of one context
	Doubted  int64 // operations ended in executions that are not their own witness of linearizability
	Bytes    int64
	// Pending is how many contexts have something to be looked at.
	Pending int
}

// AnyResult is what such a search came to.
type AnyResult struct {
	AnyStats
	// Stop is Finished if the views are closed: every execution of any number of clients is covered.
	Stop     Stop
	Found    spec.PropertySet
	Coverage Coverage
	// Solo is what becomes of a client that runs alone, where progress is judged.
	Solo Solo
	// Err is which of the assumptions that the search relies on does not hold.
	Err error

	search *anySearch
}

// anySearch is one search under way.
type anySearch struct {
	*anyPlan
	ctx      context.Context
	opts     AnyOptions
	contexts contexts
	effects  effectTable
	dirty    []*anyContext
	stop     atomic.Uint32
	told     time.Time
	mu       sync.Mutex
	found    [spec.PropertyCount]map[*anyContext]bool // the contexts in which a step violates it
	res      AnyResult
	doubted  atomic.Int64
}

// anyPlan is what the workers of a search have in common.
type anyPlan struct {
	bounds  sim.Bounds // with one client of each class
	slots   int
	named   bool
	fixed   int // classes that are one client's alone, the first
	shared  *parts
	clients *parts
	views   *views // what others may see of a client, by number; the first is that of who has not begun
}

// RunAny visits an abstraction that covers every execution of any number of clients, unless it ends early:
// every context, with every part that a client without anything can have beside it. See the package's
// comment for what that proves.
func RunAny(ctx context.Context, b AnyBounds, opts AnyOptions) *AnyResult {
	if opts.Workers == 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	s := &anySearch{anyPlan: newAnyPlan(b), ctx: ctx, opts: opts, told: time.Now()}
	s.contexts.ids = make(map[string]*anyContext)
	s.effects.ids = make(map[sim.Effect]uint32)
	workers := make([]*anyWorker, opts.Workers)
	for i := range workers {
		workers[i] = newAnyWorker(s)
	}
	workers[0].begin()
	for s.collect(workers); len(s.dirty) > 0 && s.stop.Load() == 0; s.collect(workers) {
		s.round(workers)
		s.check()
	}
	return s.finish(workers)
}

func newAnyPlan(b AnyBounds) *anyPlan {
	p := &anyPlan{bounds: b.Bounds, fixed: len(b.Clients), shared: newParts(), clients: newParts(), views: newViews()}
	p.bounds.Clients = slices.Concat(b.Clients, b.Any)
	p.bounds.Forever, p.named = true, b.Named
	if p.slots = b.Slots; p.slots == 0 {
		p.slots = int(b.Locks[0].Slots)
	}
	if b.Target.Kind == lock.Mutex {
		p.slots = 1
	}
	return p
}

// round has every context looked at that has something new. A context is always looked at by the same worker,
// which keeps for itself what is the same in contexts that look alike.
func (s *anySearch) round(workers []*anyWorker) {
	var wg sync.WaitGroup
	for i, w := range workers {
		wg.Go(func() {
			for _, g := range s.dirty {
				if int(g.id)%len(workers) == i && s.stop.Load() == 0 {
					w.process(g)
				}
			}
		})
	}
	wg.Wait()
	s.res.Rounds++
}

// collect is what the workers have left to be looked at.
func (s *anySearch) collect(workers []*anyWorker) {
	if s.stop.Load() != 0 {
		return
	}
	s.dirty = s.dirty[:0]
	for _, w := range workers {
		s.dirty = append(s.dirty, w.dirty...)
		w.dirty = w.dirty[:0]
	}
	slices.SortFunc(s.dirty, func(a, b *anyContext) int { return cmp.Compare(a.id, b.id) })
}

// check ends the search when memory runs out, or nobody wants it any more.
func (s *anySearch) check() {
	switch {
	case s.ctx.Err() != nil:
		s.stop.CompareAndSwap(0, uint32(Interrupted))
	case s.opts.First && s.violations() != 0:
		s.stop.CompareAndSwap(0, uint32(AtViolation))
	}
	if s.opts.Memory > 0 || s.opts.Progress != nil && time.Since(s.told) >= tellEvery {
		s.measure()
		if s.opts.Memory > 0 && s.res.Bytes > s.opts.Memory {
			s.stop.CompareAndSwap(0, uint32(AtMemory))
		}
	}
	if s.opts.Progress != nil && time.Since(s.told) >= tellEvery {
		s.opts.Progress(&s.res.AnyStats)
		s.told = time.Now()
	}
}

// measure brings the numbers up to date.
func (s *anySearch) measure() {
	r := &s.res.AnyStats
	r.Contexts, r.Views, r.Steps, r.Holders, r.Bytes = s.contexts.measure()
	r.Parts = [2]int{int(s.shared.n.Load()), int(s.clients.n.Load())}
	r.Bytes += s.shared.bytes.Load() + s.clients.bytes.Load()
	r.Doubted, r.Pending = s.doubted.Load(), len(s.dirty)
}

func (s *anySearch) finish(workers []*anyWorker) *AnyResult {
	s.measure()
	r := &s.res
	r.Stop, r.search = Stop(s.stop.Load()), s
	for _, w := range workers {
		r.Coverage.Merge(&w.cover)
	}
	if r.Stop == Finished && s.bounds.Properties.Has(spec.Progress) {
		if r.Solo = workers[0].solo(); r.Solo.Endless {
			r.Found = r.Found.With(spec.Progress)
		}
	}
	r.Found |= s.violations()
	if s.opts.Progress != nil {
		s.opts.Progress(&r.AnyStats)
	}
	return r
}

// violations are the properties that were seen violated.
func (s *anySearch) violations() (set spec.PropertySet) {
	for p := range spec.PropertyCount {
		if len(s.found[p]) > 0 {
			set = set.With(p)
		}
	}
	return set
}

// violated notes a step that violates something.
func (s *anySearch) violated(found spec.PropertySet, in *anyContext) {
	if found == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range spec.PropertyCount {
		if found.Has(p) {
			if s.found[p] == nil {
				s.found[p] = make(map[*anyContext]bool)
			}
			s.found[p][in] = true
		}
	}
}
