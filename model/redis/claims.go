package redis

import "slices"

// The repaired protocol keeps what the text's thief overwrites: a lock's entry is a list of claims, each with a lease of
// its own. Whoever goes takes its own claim out, and leaves those of others as they were.

func (s *Server) claims(c Command) Reply {
	switch c.Method {
	case Claiming:
		return s.claim(c)
	case Unclaim:
		return s.unclaim(c)
	case Prolong:
		return s.prolong(c)
	case Look:
		return Reply{Class: OK, Value: s.live(c.Key)}
	}
	panic("redis: no such method")
}

// live are the claims whose leases are not over.
func (s *Server) live(k Key) (v Value) {
	if it := s.find(k); it != nil {
		for _, c := range it.value {
			if s.find(Key{k.Lock, c.ID}) != nil {
				v = append(v, c)
			}
		}
	}
	return v
}

func (s *Server) claim(c Command) Reply {
	live := s.live(c.Key)
	if len(live) > 0 && live[0].Priority >= c.Priority {
		return Reply{Class: No, Value: live}
	}
	until := s.until(c.Lease)
	s.set(Key{c.Key.Lock, c.ID}, Value{}, until)
	if it := s.find(c.Key); it != nil {
		until = max(until, it.expires)
	}
	s.set(c.Key, slices.Concat(Value{{c.ID, c.Priority}}, live), until)
	return Reply{Class: OK, Value: live}
}

func (s *Server) unclaim(c Command) Reply {
	was := s.del(Key{c.Key.Lock, c.ID})
	for _, id := range c.Also {
		s.del(Key{c.Key.Lock, id})
	}
	if live := s.live(c.Key); len(live) > 0 {
		s.find(c.Key).value = live
	} else {
		s.del(c.Key)
	}
	return yes(was)
}

func (s *Server) prolong(c Command) Reply {
	live := s.live(c.Key)
	if len(live) == 0 || live[0].ID != c.ID {
		return Reply{Class: No}
	}
	s.expire(Key{c.Key.Lock, c.ID}, c.Lease)
	if it := s.find(c.Key); it.expires < s.until(c.Lease) {
		it.expires = s.until(c.Lease)
	}
	return Reply{Class: OK}
}
