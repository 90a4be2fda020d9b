package search

import "time"

// TellEvery is the interval between two calls of Progress.
const TellEvery = time.Second

// tell calls Progress if it is set and TellEvery has passed since the last call, or if the search ends (end).
func (s *search) tell(end bool) {
	if s.opts.Progress == nil || !end && !s.telling() {
		return
	}
	s.measure()
	s.opts.Progress(&s.res.Stats)
	s.told = time.Now()
}

// telling reports whether Progress is set and TellEvery has passed since its last call.
func (s *search) telling() bool { return s.opts.Progress != nil && time.Since(s.told) >= TellEvery }

// measure computes the statistics that the workers do not count: sizes, and numbers of states and parts.
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
