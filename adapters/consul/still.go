package consul

import (
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/consul"
)

// NewStill returns a simulated Consul whose time passes only by [Server.Advance].
func NewStill() *Server {
	s := &Server{still: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass()
	return s
}

// Advance lets ms milliseconds pass: sessions end, lock-delays begin and elapse, and blocking queries whose time is up are
// answered.
func (s *Server) Advance(ms int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed = s.passed.Add(time.Duration(ms) * time.Millisecond)
	for ms > 0 {
		step := ms
		if next, any := s.store.NextEnd(); any {
			step = min(step, next)
		}
		s.store.Advance(step, nil)
		ms -= step
	}
	s.tell()
}

// Waits reports whether a blocking query from a client address waits for a change.
func (s *Server) Waits(from string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, waits := s.waiting[from]
	return waits && seen == s.changed
}

// Keys returns all keys, with the IDs of the sessions that hold them.
func (s *Server) Keys() []consul.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.store.Under(""))
}

// Left returns the number of milliseconds until a session ends, unless it is renewed. It returns 0 if the session
// never ends.
func (s *Server) Left(session string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.Left(session)
}

// Delete deletes a key, even if a session holds it.
func (s *Server) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.Apply(&consul.Request{Method: consul.Delete, Key: key})
	s.tell()
}
