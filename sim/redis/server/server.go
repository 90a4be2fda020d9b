package server

import (
	"iter"
	"slices"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/redis"
)

// Server is one Redis server: its keys, each with its expiry by the server's clock. A script is executed as one
// command. Nothing else happens while it runs, and a key that exists at its beginning exists until its end. A Server is
// a plain value, and time passes only by [Server.Advance].
type Server struct {
	now  int64
	keys []item // ordered by key
}

// item is an existing key.
type item struct {
	key     redis.Key
	value   redis.Value
	expires int64 // time of the server's clock in milliseconds; 0 means never
}

// Reset removes all keys and sets the server's clock to 0.
func (s *Server) Reset() { s.now, s.keys = 0, s.keys[:0] }

// CopyFrom makes the server a copy of o, in its own memory. The two share values, which are never changed in place.
func (s *Server) CopyFrom(o *Server) { s.now, s.keys = o.now, append(s.keys[:0], o.keys...) }

// Apply executes a command.
func (s *Server) Apply(c redis.Command) redis.Reply {
	switch c.Method {
	case redis.Get:
		return s.get(c.Key)
	case redis.SetNX:
		if s.find(c.Key) != nil {
			return redis.Reply{Class: redis.No}
		}
		s.set(c.Key, redis.Value{{ID: c.ID, Priority: c.Priority}}, s.until(c.Lease))
	case redis.Set:
		s.set(c.Key, redis.Value{{ID: c.ID, Priority: c.Priority}}, s.until(c.Lease))
	case redis.PExpire:
		return s.expire(c.Key, c.Lease)
	case redis.PTTL:
		return s.ttl(c.Key)
	case redis.Del:
		return yes(s.del(c.Key))
	case redis.Exists:
		return yes(s.find(c.Key) != nil)
	case redis.Steal:
		return s.steal(c)
	case redis.Release:
		return yes(s.owns(c) && s.del(c.Key))
	case redis.Extend:
		if !s.owns(c) {
			return redis.Reply{Class: redis.No}
		}
		return s.expire(c.Key, c.Lease)
	default:
		return s.claims(c)
	}
	return redis.Reply{Class: redis.OK}
}

func yes(ok bool) redis.Reply {
	if ok {
		return redis.Reply{Class: redis.OK}
	}
	return redis.Reply{Class: redis.No}
}

func (s *Server) get(k redis.Key) redis.Reply {
	if it := s.find(k); it != nil {
		return redis.Reply{Class: redis.Valued, Value: it.value}
	}
	return redis.Reply{Class: redis.Nil}
}

func (s *Server) ttl(k redis.Key) redis.Reply {
	switch it := s.find(k); {
	case it == nil:
		return redis.Reply{Class: redis.Nil}
	case it.expires == 0:
		return redis.Reply{Class: redis.Ageless}
	}
	return redis.Reply{Class: redis.Timed}
}

// steal is the command of the lock's text. It sets the lock's entry if there is none, or if the entry has a lower
// priority. The reply has the old entry.
func (s *Server) steal(c redis.Command) redis.Reply {
	it := s.find(c.Key)
	if it == nil {
		s.set(c.Key, redis.Value{{ID: c.ID, Priority: c.Priority}}, s.until(c.Lease))
		return redis.Reply{Class: redis.OK}
	}
	was, until := it.value, s.until(c.Lease)
	if p := was[len(was)-1].Priority; p > c.Priority || p == c.Priority && !c.Equal {
		return redis.Reply{Class: redis.No, Value: was}
	}
	if c.Keep {
		until = max(until, it.expires)
	}
	s.set(c.Key, redis.Value{{ID: c.ID, Priority: c.Priority}}, until)
	return redis.Reply{Class: redis.OK, Value: was}
}

// owns reports whether the lock's entry is a single claim, made by the caller.
func (s *Server) owns(c redis.Command) bool {
	it := s.find(c.Key)
	return it != nil && len(it.value) == 1 && it.value[0].ID == c.ID
}

// until returns the time at which a lease that begins now ends; a lease of 0 never ends.
func (s *Server) until(lease int64) int64 {
	if lease == 0 {
		return 0
	}
	return s.now + lease
}

// index returns the index of a key, and true; or the index at which it would be, and false. Since there are few keys,
// it uses a linear search.
func (s *Server) index(k redis.Key) (int, bool) {
	for i := range s.keys {
		switch at := &s.keys[i].key; {
		case *at == k:
			return i, true
		case at.Lock > k.Lock || at.Lock == k.Lock && at.ID > k.ID:
			return i, false
		}
	}
	return len(s.keys), false
}

func (s *Server) find(k redis.Key) *item {
	if i, there := s.index(k); there {
		return &s.keys[i]
	}
	return nil
}

func (s *Server) set(k redis.Key, v redis.Value, expires int64) {
	i, there := s.index(k)
	if !there {
		s.keys = slices.Insert(s.keys, i, item{})
	}
	s.keys[i] = item{k, v, expires}
}

func (s *Server) del(k redis.Key) bool {
	i, there := s.index(k)
	if there {
		s.keys = slices.Delete(s.keys, i, i+1)
	}
	return there
}

func (s *Server) expire(k redis.Key, lease int64) redis.Reply {
	it := s.find(k)
	if it == nil {
		return redis.Reply{Class: redis.No}
	}
	it.expires = s.until(lease)
	return redis.Reply{Class: redis.OK}
}

// Entry returns the value of a lock's key.
func (s *Server) Entry(lock uint8) redis.Value { return s.get(redis.Key{Lock: lock}).Value }

// Top returns the first claim of a lock's entry, and whether there is one. If claims have their own leases (claims), it
// skips those whose leases have ended.
func (s *Server) Top(lock uint8, claims bool) (top redis.Claim, there bool) {
	it := s.find(redis.Key{Lock: lock})
	if it == nil {
		return redis.Claim{}, false
	}
	for _, c := range it.value {
		if !claims || s.find(redis.Key{Lock: lock, ID: c.ID}) != nil {
			return c, true
		}
	}
	return redis.Claim{}, false
}

// Lasts returns for how many milliseconds the claim with an ID is still the top claim of a lock's entry; 0 if it is
// not.
func (s *Server) Lasts(lock uint8, id redis.ID, claims bool) int64 {
	if top, there := s.Top(lock, claims); !there || top.ID != id {
		return 0
	}
	at := redis.Key{Lock: lock}
	if claims {
		at.ID = id
	}
	return s.find(at).expires - s.now
}

// Left yields each key with the milliseconds until it expires; 0 means never.
func (s *Server) Left() iter.Seq2[redis.Key, int64] {
	return func(yield func(redis.Key, int64) bool) {
		for _, it := range s.keys {
			if !yield(it.key, max(0, it.expires-s.now)) {
				return
			}
		}
	}
}

// Advance lets ms milliseconds pass, and reports whether a key has expired.
func (s *Server) Advance(ms int64) bool {
	s.now += ms
	n := len(s.keys)
	s.keys = slices.DeleteFunc(s.keys, func(it item) bool { return it.expires > 0 && it.expires <= s.now })
	return len(s.keys) < n
}

// NextExpiry returns the number of milliseconds until the next key expires, and whether any key will.
func (s *Server) NextExpiry() (ms int64, any bool) {
	for _, it := range s.keys {
		if left := it.expires - s.now; it.expires > 0 && (!any || left < ms) {
			ms, any = left, true
		}
	}
	return ms, any
}

// Restart stops the server and starts it again. If persistent is set, the keys survive with their expiries; otherwise
// all keys are lost.
func (s *Server) Restart(persistent bool) {
	if !persistent {
		s.keys = s.keys[:0]
	}
}

// Evict deletes the keys of a lock and of an ID, as a server that runs out of memory or an operator might.
func (s *Server) Evict(id redis.ID) {
	s.keys = slices.DeleteFunc(s.keys, func(it item) bool { return it.key.ID == id || it.key.ID == 0 && it.value.Has(id) })
}

// Code writes or reads the server's keys. Times are encoded relative to the server's clock.
func (s *Server) Code(c *codec.Coder) {
	n := codec.Length(c, len(s.keys))
	if c.Reading() {
		s.now, s.keys = 0, slices.Grow(s.keys[:0], n)[:n]
	}
	for i := range s.keys {
		it := &s.keys[i]
		codec.Byte(c, &it.key.Lock)
		codec.Number(c, &it.key.ID)
		it.value = codeValue(c, it.value)
		left := int64(0)
		if it.expires > 0 {
			left = it.expires - s.now
		}
		codec.Number(c, &left)
		it.expires = 0
		if left > 0 {
			it.expires = s.now + left
		}
	}
}

func codeValue(c *codec.Coder, v redis.Value) redis.Value {
	n := codec.Length(c, len(v))
	if c.Reading() {
		v = make(redis.Value, n)
	}
	for i := range v {
		codec.Number(c, &v[i].ID)
		codec.Byte(c, &v[i].Priority)
	}
	return v
}
