package consul

import (
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/consul"
)

// NewStill is a Consul of one server whose time stands still but for [Server.Advance].
func NewStill() *Server {
	s := &Server{still: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass()
	return s
}

// Advance lets milliseconds pass: sessions end, lock-delays that begin then go on, and blocking queries whose time is up are
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

// Waits reports whether a blocking query from an address waits for news.
func (s *Server) Waits(from string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, waits := s.waiting[from]
	return waits && seen == s.changed
}

// Keys are all keys, with who holds them: the ID of a session.
func (s *Server) Keys() []consul.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.store.Under(""))
}

// Left is in how many milliseconds a session ends unless it is renewed; 0 is never.
func (s *Server) Left(session string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.Left(session)
}

// Delete deletes a key, whoever holds it.
func (s *Server) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.Apply(&consul.Request{Method: consul.Delete, Key: key})
	s.tell()
}
