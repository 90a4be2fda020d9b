package clientstress

import (
	"context"
	"time"

	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// pauses are the pauses before the next attempts at a refused acquire, as the broker may not have noticed all dead
// clients. After these pauses, one more lasts as long as the limit of an operation.
var pauses = []time.Duration{100 * time.Millisecond, time.Second}

// audit lets one client after the other use the lock, while no other client works. judge.Audit then judges the history.
func (s *runner) audit(ctx context.Context) {
	s.auditing = true
	s.recorder.World(history.Audit, 0)
	s.giveBack(ctx)
	if !s.fill(ctx) {
		return
	}
	for _, c := range s.clients {
		if c.life != nil && int(c.part.Number) <= s.config.Clients {
			s.obtain(ctx, c, true)
			c.release(ctx)
		}
	}
	s.fill(ctx)
}

// giveBack lets fresh clients acquire what they can get. The clients that believe to hold the lock then verify it, and
// all release it.
func (s *runner) giveBack(ctx context.Context) {
	_, most := s.slots()
	for k := 0; k <= most && s.obtain(ctx, s.auditor(k), false); k++ {
	}
	for _, c := range s.clients {
		if c.held > 0 {
			c.Call(ctx, lock.Verify, 0)
		}
	}
	s.release(ctx)
}

// release lets all clients release what they believe to hold, and kills those that cannot know what they hold.
func (s *runner) release(ctx context.Context) {
	for _, all := range [][]*client{s.clients, s.auditors} {
		for _, c := range all {
			c.release(ctx)
		}
	}
}

// release releases the lock, if the client believes to hold it. If the client cannot know, it is killed.
func (c *client) release(ctx context.Context) {
	if c.held > 0 {
		c.Call(ctx, lock.Release, 0)
	}
	if c.unsure && c.life != nil {
		c.crash()
	}
}

// fill lets fresh clients acquire slots until one is refused, and then release them all. It returns false if a free
// slot was refused.
func (s *runner) fill(ctx context.Context) bool {
	defer s.release(ctx)
	least, most := s.slots()
	for k := 0; k <= most; k++ {
		if !s.obtain(ctx, s.auditor(k), k < least) {
			if k < least {
				return false
			}
			break
		}
	}
	if least == most {
		s.auditor(0).Call(ctx, lock.Count, 0)
	}
	return true
}

// obtain reports whether a client is granted the lock. due says that a slot must be free: the client then tries several
// times.
func (s *runner) obtain(ctx context.Context, c *client, due bool) bool {
	for i := 0; ; i++ {
		if err := c.ready(ctx); err != nil {
			s.stop(err)
			return false
		}
		c.Call(ctx, lock.Acquire, 0)
		pause := s.config.Limit
		switch {
		case c.held > 0 || !due || i > len(pauses) || c.life == nil:
			return c.held > 0
		case i < len(pauses):
			pause = pauses[i]
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
	}
}

// auditor is the k-th client that audits, from 0. It takes no part in the rounds.
func (s *runner) auditor(k int) *client {
	for len(s.auditors) <= k {
		s.auditors = append(s.auditors, s.client(s.config.Members()+len(s.auditors)))
	}
	return s.auditors[k]
}

// slots is the minimum and maximum number of slots that the lock may have after the administrative operations so far.
func (s *runner) slots() (least, most int) {
	return beliefs.SlotsIn(s.recorder.History(s.config.Kind, &s.config.Load), 0)
}
