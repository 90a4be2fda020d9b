package wire

import (
	"context"
	"math"
	"time"
)

// FollowClock makes the broker's time follow real time, from now until ctx is done. It may be called only once per
// broker.
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

// idle is the maximum wait until the next check, used if no timer is set in the broker.
const idle = time.Hour

// untilNext is the time until the broker's next timer, for example the expiry of a queue.
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
