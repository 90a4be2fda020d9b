package wire

import (
	"context"
	"math"
	"time"
)

// FollowClock has the broker's time pass as real time does, from now on and until the context ends.
// There is one call of it, if any.
func (s *Simulated) FollowClock(ctx context.Context) {
	s.mu.Lock()
	s.clock = &clock{began: time.Now(), first: s.broker.Now(), kick: make(chan struct{}, 1)}
	s.mu.Unlock()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.clock.kick:
		case <-timer.C:
			s.do(func() {})
		}
		timer.Reset(s.untilNext())
	}
}

// idle is how long nothing needs to happen where no timer is set.
const idle = time.Hour

// untilNext is how long nothing will change by itself.
func (s *Simulated) untilNext() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := int64(math.MaxInt64)
	for _, h := range s.hosts {
		if at, any := h.broker.NextTimer(); any {
			next = min(next, at)
		}
	}
	if next == math.MaxInt64 {
		return idle
	}
	now := s.broker.Now() + s.clock.since(s.broker.Now())
	return time.Duration(max(next-now, 0)) * time.Millisecond
}
