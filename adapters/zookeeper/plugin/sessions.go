package plugin

import (
	"cmp"
	"slices"
	"sync"
)

// Bounds of the session timeout at a stock server, in milliseconds: two and twenty ticks of two seconds.
const (
	shortestSession = 4_000
	longestSession  = 40_000
)

// sessions has the clients' sessions by number, each with the virtual time of the server's last reply to it. It is safe for
// concurrent use.
type sessions struct {
	mu    sync.Mutex
	now   int64 // virtual time in milliseconds
	count int
	all   map[int64]*one
}

// one is one client's session.
type one struct {
	id       int64
	number   int // order of the sessions that end at the same time; sessions that began first end first
	password []byte
	lasts    int64
	heard    int64 // virtual time of the last reply
}

func newSessions() *sessions { return &sessions{all: make(map[int64]*one)} }

// granted returns the session timeout that a stock server grants to a client that asks for the timeout asked.
func granted(asked int32) int32 { return max(shortestSession, min(asked, longestSession)) }

// begins records that a session begins, or continues on another connection. lasts is its timeout in milliseconds.
func (s *sessions) begins(id int64, password []byte, lasts int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	number := s.count
	if was := s.all[id]; was != nil {
		number = was.number
	}
	s.all[id] = &one{id, number, slices.Clone(password), int64(lasts), s.now}
}

// hears records that the server has sent a reply or an event to a session's client.
func (s *sessions) hears(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.all[id]; o != nil {
		o.heard = s.now
	}
}

// ended records that the session with the given number has ended.
func (s *sessions) ended(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
}

// advance lets time pass, removes the sessions that have expired, and returns them.
func (s *sessions) advance(ms int64) (over []*one) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += ms
	for id, o := range s.all {
		if s.now-o.heard >= o.lasts {
			over = append(over, o)
			delete(s.all, id)
		}
	}
	slices.SortFunc(over, func(a, b *one) int {
		return cmp.Or(cmp.Compare(a.heard+a.lasts, b.heard+b.lasts), cmp.Compare(a.number, b.number))
	})
	return over
}

// left returns the remaining milliseconds of a session; 0 if there is no such session.
func (s *sessions) left(id int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.all[id]
	if o == nil {
		return 0
	}
	return max(1, o.heard+o.lasts-s.now)
}
