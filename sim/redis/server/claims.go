package server

import (
	"slices"

	"github.com/lockproof/lockproof/model/redis"
)

// In the lock's text, a thief overwrites the claims of others. The repaired protocol keeps them: the entry of a lock is
// a list of claims, each with its own lease. A client that leaves removes only its own claim.

func (s *Server) claims(c redis.Command) redis.Reply {
	switch c.Method {
	case redis.Claiming:
		return s.claim(c)
	case redis.Unclaim:
		return s.unclaim(c)
	case redis.Prolong:
		return s.prolong(c)
	case redis.Look:
		return redis.Reply{Class: redis.OK, Value: s.live(c.Key)}
	}
	panic("redis: no such method")
}

// live returns the claims in a key's value whose leases have not ended.
func (s *Server) live(k redis.Key) (v redis.Value) {
	if it := s.find(k); it != nil {
		for _, c := range it.value {
			if s.find(redis.Key{Lock: k.Lock, ID: c.ID}) != nil {
				v = append(v, c)
			}
		}
	}
	return v
}

func (s *Server) claim(c redis.Command) redis.Reply {
	live := s.live(c.Key)
	if len(live) > 0 && live[0].Priority >= c.Priority {
		return redis.Reply{Class: redis.No, Value: live}
	}
	until := s.until(c.Lease)
	s.set(redis.Key{Lock: c.Key.Lock, ID: c.ID}, redis.Value{}, until)
	if it := s.find(c.Key); it != nil {
		until = max(until, it.expires)
	}
	s.set(c.Key, slices.Concat(redis.Value{{ID: c.ID, Priority: c.Priority}}, live), until)
	return redis.Reply{Class: redis.OK, Value: live}
}

func (s *Server) unclaim(c redis.Command) redis.Reply {
	was := s.del(redis.Key{Lock: c.Key.Lock, ID: c.ID})
	for _, id := range c.Also {
		s.del(redis.Key{Lock: c.Key.Lock, ID: id})
	}
	if live := s.live(c.Key); len(live) > 0 {
		s.find(c.Key).value = live
	} else {
		s.del(c.Key)
	}
	return yes(was)
}

func (s *Server) prolong(c redis.Command) redis.Reply {
	live := s.live(c.Key)
	if len(live) == 0 || live[0].ID != c.ID {
		return redis.Reply{Class: redis.No}
	}
	s.expire(redis.Key{Lock: c.Key.Lock, ID: c.ID}, c.Lease)
	if it := s.find(c.Key); it.expires < s.until(c.Lease) {
		it.expires = s.until(c.Lease)
	}
	return redis.Reply{Class: redis.OK}
}
