package search

import "time"

// TellEvery is how often Progress is called.
const TellEvery = time.Second

// tell calls Progress at its interval and at the end.
func (s *search) tell(end bool) {
	if s.opts.Progress == nil || !end && !s.telling() {
		return
	}
	s.measure()
	s.opts.Progress(&s.res.Stats)
	s.told = time.Now()
}

// telling reports whether it is time.
func (s *search) telling() bool { return s.opts.Progress != nil && time.Since(s.told) >= TellEvery }

// measure brings the numbers up to date that workers do not add to.
func (s *search) measure() {
	r := &s.res
	r.States, r.Queue = s.seen.count(), s.queued
	r.QueueBytes, r.TableBytes, r.PartBytes = s.queueMost.Load(), s.seen.size(), s.shared.Size()+s.clients.Size()
	r.Parts = [2]int{int(s.shared.Len()), int(s.clients.Len())}
	r.MoveBytes = 0
	for _, w := range s.workers {
		r.MoveBytes += w.bytes.Load()
	}
}
