package clientstress

import (
	"context"
	"time"

	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// pauses are what passes before another attempt at what was refused: the broker may not have noticed yet who is dead. Behind the last
// there is as much as an operation may take.
var pauses = []time.Duration{100 * time.Millisecond, time.Second}

// audit has one client after the other use the lock while no other client is at work. The result is judged by judge.Audit.
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

// giveBack has others acquire what they can get while some believe to hold the lock, who verify that. Then all give it back.
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

// release has everybody give back what they believe to hold, and ends who cannot know.
func (s *runner) release(ctx context.Context) {
	for _, all := range [][]*client{s.clients, s.auditors} {
		for _, c := range all {
			c.release(ctx)
		}
	}
}

// release gives the lock back, if the client believes to hold it.
func (c *client) release(ctx context.Context) {
	if c.held > 0 {
		c.Call(ctx, lock.Release, 0)
	}
	if c.unsure && c.life != nil {
		c.crash()
	}
}

// fill has fresh clients acquire all slots, one more be refused, and all give theirs back. It is false where one was refused what is
// free.
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

// obtain reports whether a client is granted the lock. A grant that is due is tried several times.
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

// slots is how many slots the lock has by what was administered, at least and at most.
func (s *runner) slots() (least, most int) {
	return beliefs.SlotsIn(s.recorder.History(s.config.Kind, &s.config.Load), 0)
}
