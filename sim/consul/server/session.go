package server

import (
	"slices"

	"github.com/lockproof/lockproof/model/consul"
)

// session is an existing session.
type session struct {
	consul.Session
	left int64 // milliseconds until the session expires, if it has a TTL
}

// delayed is a key that no session can acquire for a while (Consul's lock-delay).
type delayed struct {
	key  string
	left int64
}

func (s *Server) session(id string) int {
	return slices.IndexFunc(s.sessions, func(x session) bool { return x.ID == id })
}

// Alive reports whether a session with that name exists.
func (s *Server) Alive(id string) bool { return s.session(id) >= 0 }

// Sessions returns the existing sessions, the oldest first.
func (s *Server) Sessions() (all []consul.Session) {
	for i := range s.sessions {
		all = append(all, s.sessions[i].Session)
	}
	return all
}

func (s *Server) createSession(x consul.Session) consul.Reply {
	s.sessions = append(s.sessions, session{x, 2 * x.TTL})
	return consul.Reply{Status: 200, OK: true}
}

func (s *Server) renewSession(id string) consul.Reply {
	i := s.session(id)
	if i < 0 {
		return consul.Reply{Status: 404}
	}
	s.sessions[i].left = 2 * s.sessions[i].TTL
	return consul.Reply{Status: 200, OK: true}
}

// End invalidates a session. The keys that it has acquired are released or deleted, as the session's behavior says.
func (s *Server) End(id string) {
	i := s.session(id)
	if i < 0 {
		return
	}
	x := s.sessions[i]
	s.sessions = slices.Delete(s.sessions, i, i+1)
	s.index++
	for k := 0; k < len(s.entries); k++ {
		e := &s.entries[k]
		if e.Session != id {
			continue
		}
		if x.Delay > 0 {
			s.delays = append(s.delays, delayed{e.Key, x.Delay})
		}
		if x.Deletes {
			s.leaveTombstone(e.Key)
			s.entries = slices.Delete(s.entries, k, k+1)
			k--
			continue
		}
		e.Session, e.Modified = "", s.index
	}
}

// Advance lets ms milliseconds pass. It appends the names of the sessions that expire to ended, the oldest first.
func (s *Server) Advance(ms int64, ended []string) []string {
	first := len(ended)
	for i := range s.sessions {
		if x := &s.sessions[i]; x.TTL > 0 {
			if x.left -= ms; x.left <= 0 {
				ended = append(ended, x.ID)
			}
		}
	}
	for i := range s.delays {
		s.delays[i].left -= ms
	}
	s.delays = slices.DeleteFunc(s.delays, func(d delayed) bool { return d.left <= 0 })
	for _, id := range ended[first:] {
		s.End(id)
	}
	return ended
}

// NextEnd returns the number of milliseconds until the next session expires, and whether any session has a TTL.
func (s *Server) NextEnd() (next int64, any bool) {
	for i := range s.sessions {
		if x := &s.sessions[i]; x.TTL > 0 && (!any || x.left < next) {
			next, any = x.left, true
		}
	}
	return next, any
}

// Left returns the number of milliseconds until a session expires; 0 if it has no TTL or does not exist.
func (s *Server) Left(id string) int64 {
	if i := s.session(id); i >= 0 && s.sessions[i].TTL > 0 {
		return s.sessions[i].left
	}
	return 0
}

// Restart stops the server and starts it again. Keys and sessions survive, and the TTL of each session starts again
// (FACTS K10).
func (s *Server) Restart() {
	for i := range s.sessions {
		s.sessions[i].left = 2 * s.sessions[i].TTL
	}
	s.delays = s.delays[:0]
}
