package search

import "time"

// TellEvery is the interval at which Progress is called.
const TellEvery = time.Second

// tell calls Progress if the interval has passed, or at the end of the search.
func (s *search) tell(end bool) {
	if s.opts.Progress == nil || !end && !s.telling() {
		return
	}
	s.measure()
	s.opts.Progress(&s.res.Stats)
	s.told = time.Now()
}

// telling reports whether it is time to call Progress.
func (s *search) telling() bool { return s.opts.Progress != nil && time.Since(s.told) >= TellEvery }

// measure updates the statistics that the workers do not maintain.
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
