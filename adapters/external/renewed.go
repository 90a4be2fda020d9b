package external

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/scenario"
)

// A lock may go by itself unless its holder renews it in time. The broker's time is the schedule's; who renews, though, does so by
// a clock of its own, and would do nothing in a long time that passes for the broker alone. So whether clients renew is looked up
// once, in real time, when something was found wrong behind such a time. If they do, no such time passes while somebody holds
// a lock.

// renewal is whether a target's clients renew what expires; runners share it.
type renewal struct {
	once sync.Mutex // held while it is looked up

	mu             sync.Mutex
	looked, renews bool
}

// longestRenewal is how long is waited at most for a client to renew something. What need not be renewed by then may be renewed
// later, for all that is known.
const longestRenewal = time.Minute

// renewed reports whether clients would renew, in the time of an action, what expires.
func (r *run) renewed(a scenario.Action) bool {
	g := &r.config.Learnt.renewal
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.renews && r.renewable(a)
}

// renewable reports whether somebody holds a lock for as long as what expires may go without being renewed, or close to that.
func (r *run) renewable(a scenario.Action) bool {
	return a.Kind == scenario.Idle && r.expires > 0 && time.Duration(a.Arg)*time.Second >= r.expires/2 &&
		slices.ContainsFunc(r.clients, func(p clientState) bool { return !p.dead && p.held > 0 })
}

// unlessRenewed carries out an execution in which something was found wrong once more if that may be because clients could not
// renew what expires.
func (s *Runner) unlessRenewed(ctx context.Context, x *Execution, again func() (*Execution, error)) (*Execution, error) {
	if x.Found == 0 || !s.unrenewed {
		return x, nil
	}
	if err := s.spent.Reset(func() error { return s.learnRenewal(ctx) }); err != nil {
		return nil, err
	}
	if g := &s.config.Learnt.renewal; !g.renews {
		return x, nil
	}
	return again()
}

// learnRenewal finds out whether clients renew what expires, unless that is known.
func (s *Runner) learnRenewal(ctx context.Context) error {
	g := &s.config.Learnt.renewal
	g.once.Lock()
	defer g.once.Unlock()
	if g.looked {
		return nil
	}
	renews, err := s.renewing(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.looked, g.renews = err == nil, renews
	return err
}

// renewing has a client hold a lock for most of the time in which it has to be renewed, and looks whether it does anything
// unasked. Where that would take too long, it may.
func (s *Runner) renewing(ctx context.Context) (renews bool, err error) {
	limit := s.expires * 3 / 4
	if limit > longestRenewal {
		return true, nil
	}
	s.gate(true)
	p := recognise.NewProbe()
	name := s.prefix + "renewed"
	if err := s.make(ctx, name, p); err != nil {
		return false, err
	}
	a := s.handles[1]
	a.dirty = true
	use, err := s.hold(ctx, a, name, p)
	if err != nil {
		return false, err
	}
	heard := make(chan struct{}, 1)
	s.listen(func(*wire.Command) {
		select {
		case heard <- struct{}{}:
		default:
		}
	})
	select {
	case <-heard:
		renews = true
	case <-time.After(limit):
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.listen(nil)
	if err == nil {
		err = s.letGo(ctx, a, use, p)
	}
	if err == nil {
		err = s.unmake(ctx, name)
	}
	return renews, err
}
