package clientstress

import (
	"context"
	"time"

	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// pauses are the pauses before another attempt at an acquire that was refused: the broker may not have noticed yet which
// clients are dead. After these, one more pause lasts as long as the limit of an operation.
var pauses = []time.Duration{100 * time.Millisecond, time.Second}

// audit makes one client after the other use the lock while no other client is working. judge.Audit judges the result.
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

// giveBack makes fresh clients acquire what they can get while others believe to hold the lock. Those verify the lock, and
// then all release it.
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

// release makes all clients release what they believe to hold, and kills those that cannot know whether they hold something.
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

// fill makes fresh clients acquire all slots, makes one more client be refused, and then releases all slots. It returns
// false if a free slot was refused.
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

// obtain reports whether a client is granted the lock. If due is true, a slot must be free, and the client tries several
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

// auditor is the k-th client that audits, counted from 0. It has taken no part in the rounds.
func (s *runner) auditor(k int) *client {
	for len(s.auditors) <= k {
		s.auditors = append(s.auditors, s.client(s.config.Members()+len(s.auditors)))
	}
	return s.auditors[k]
}

// slots returns the minimum and the maximum number of slots that the lock may have, given the administrative operations so
// far.
func (s *runner) slots() (least, most int) {
	return beliefs.SlotsIn(s.recorder.History(s.config.Kind, &s.config.Load), 0)
}
