package external

import (
	"sync"

	"github.com/lockproof/lockproof/model/lock"
)

// Whose connection is lost may learn it from an operation that fails, and of several from as many, and may see to it in the next one,
// which fails as well. When its client has not opened another connection by then, it may be about to, by a clock of its own, as drivers with automatic recovery are: whether they
// are is looked up in real time when that first matters. Who never opens another never gets a lock again.

// revival is whether a target's clients open a connection by themselves after one was lost; runners share it.
type revival struct {
	mu             sync.Mutex
	looked, itself bool
	awaited        int // how often it was to be waited for that
}

// known gives what is known; the second result says whether it is.
func (g *revival) known() (itself, looked bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.itself, g.looked
}

func (g *revival) learn(itself bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.looked, g.itself = true, g.itself || itself
}

// reconnects reports whether a client that has lost its connection opens another by itself, or may. Whoever is waited for as
// long as all others is looked at again.
func (r *run) reconnects(p *clientState) bool {
	g := &r.config.Learnt.revival
	if itself, looked := g.known(); itself || looked && !r.patient {
		return itself
	}
	r.looking(true)
	came, err := r.wait(r.ctx, r.config.Timing.Revival, func() bool { return p.current != nil || len(p.parked) > 0 })
	r.looking(false)
	if err != nil {
		return true
	}
	g.learn(came)
	return came
}

// stranded notes an acquire that got nothing because its client is without a connection, and is so for good if it was one before and
// opens none by itself: as long as nobody has the lock, that is for no other reason.
func (r *run) stranded(p *clientState, res lock.Result) {
	if p.op != lock.Acquire || r.shared {
		return
	}
	if p.deadEnds++; res.Held || !p.severed {
		p.deadEnds = 0
	}
	if p.deadEnds > 0 && p.forsaken && !r.othersHold(p) && r.believed(r.lockOf(p.id)) == 0 {
		r.monitor.Stranded(p.id)
	}
}
