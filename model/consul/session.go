package consul

import "slices"

// Session is what keys are acquired by. It ends when it is destroyed, when the node's health check fails, or when it has
// not been renewed for long.
type Session struct {
	ID string
	// Deletes has the keys of the session be deleted when it ends, which is behaviour "delete"; else they are released.
	Deletes bool
	// TTL is how long it lives at least without being renewed, in milliseconds; 0 is for ever. The server ends it after
	// twice as long (FACTS K2).
	TTL int64
	// Delay is for how long nobody else can acquire what it had acquired when it is invalidated, in milliseconds (FACTS K3).
	Delay int64

	left int64 // until it ends, where it has a TTL
}

// delayed is a key that nobody can acquire for a while.
type delayed struct {
	key  string
	left int64
}

func (s *Server) session(id string) int {
	return slices.IndexFunc(s.sessions, func(x Session) bool { return x.ID == id })
}

// Alive reports whether there is a session of that name.
func (s *Server) Alive(id string) bool { return s.session(id) >= 0 }

// Sessions are those that there are, by their age.
func (s *Server) Sessions() []Session { return s.sessions }

func (s *Server) createSession(x Session) Reply {
	x.left = 2 * x.TTL
	s.sessions = append(s.sessions, x)
	return Reply{Status: 200, OK: true}
}

func (s *Server) renewSession(id string) Reply {
	i := s.session(id)
	if i < 0 {
		return Reply{Status: 404}
	}
	s.sessions[i].left = 2 * s.sessions[i].TTL
	return Reply{Status: 200, OK: true}
}

// End invalidates a session: what it has acquired is released or deleted.
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

// Advance lets time pass, and appends the sessions that have ended by it, in the order of their age.
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

// NextEnd is in how many milliseconds a session ends by itself, if one does.
func (s *Server) NextEnd() (next int64, any bool) {
	for i := range s.sessions {
		if x := &s.sessions[i]; x.TTL > 0 && (!any || x.left < next) {
			next, any = x.left, true
		}
	}
	return next, any
}

// Left is in how many milliseconds a session ends by itself; 0 is never, or that there is none.
func (s *Server) Left(id string) int64 {
	if i := s.session(id); i >= 0 && s.sessions[i].TTL > 0 {
		return s.sessions[i].left
	}
	return 0
}

// Restart is the server stopped and started again: keys and sessions are kept, and the time of sessions begins anew (FACTS K10).
func (s *Server) Restart() {
	for i := range s.sessions {
		s.sessions[i].left = 2 * s.sessions[i].TTL
	}
	s.delays = s.delays[:0]
}
