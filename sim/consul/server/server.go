package server

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/consul"
)

// Server is a Consul with one server. The zero value is empty. Time passes only by [Server.Advance].
type Server struct {
	index      uint64
	entries    []consul.Entry // ordered by key
	sessions   []session
	tombstones []tombstone // deleted keys, which the indexes of prefixes depend on
	oldest     uint64      // smallest index of any prefix; only in a state that was read
	delays     []delayed
}

// tombstone has a deleted key, and the index of its deletion.
type tombstone struct {
	key   string
	index uint64
}

// Reset removes all keys and sessions.
func (s *Server) Reset() {
	*s = Server{entries: s.entries[:0], sessions: s.sessions[:0], tombstones: s.tombstones[:0], delays: s.delays[:0], index: 1}
}

// CopyFrom makes the server a copy of o. It reuses the server's memory.
func (s *Server) CopyFrom(o *Server) {
	s.index, s.oldest = o.index, o.oldest
	s.entries, s.sessions = append(s.entries[:0], o.entries...), append(s.sessions[:0], o.sessions...)
	s.tombstones, s.delays = append(s.tombstones[:0], o.tombstones...), append(s.delays[:0], o.delays...)
}

// Apply executes a request. A blocking query that has nothing new to report has the reply Waits; the caller repeats it
// later.
func (s *Server) Apply(r *consul.Request) consul.Reply {
	switch r.Method {
	case consul.CreateSession:
		return s.createSession(r.Session)
	case consul.RenewSession:
		return s.renewSession(r.Session.ID)
	case consul.DestroySession:
		s.End(r.Session.ID)
		return consul.Reply{Status: 200, OK: true}
	case consul.Get:
		return s.get(r)
	case consul.Put:
		return s.put(r)
	}
	return s.delete(r)
}

// find returns the index of a key in entries, and true; or the index at which it would be, and false.
func (s *Server) find(key string) (int, bool) {
	return slices.BinarySearchFunc(s.entries, key, func(e consul.Entry, key string) int { return cmp.Compare(e.Key, key) })
}

// Entry returns the entry of a key, or nil if there is none.
func (s *Server) Entry(key string) *consul.Entry {
	if i, there := s.find(key); there {
		return &s.entries[i]
	}
	return nil
}

// Under returns the entries whose keys begin with a prefix, ordered by key.
func (s *Server) Under(prefix string) []consul.Entry {
	from, _ := s.find(prefix)
	to := from
	for to < len(s.entries) && strings.HasPrefix(s.entries[to].Key, prefix) {
		to++
	}
	return s.entries[from:to]
}

// Index returns the index of the last change to a key with this prefix; 1 if there was none.
func (s *Server) Index(prefix string) uint64 {
	last := max(1, s.oldest)
	for _, e := range s.Under(prefix) {
		last = max(last, e.Modified)
	}
	for _, g := range s.tombstones {
		if strings.HasPrefix(g.key, prefix) {
			last = max(last, g.index)
		}
	}
	return last
}

func (s *Server) get(r *consul.Request) consul.Reply {
	index := s.Index(r.Key)
	if r.Index > 0 && index <= r.Index {
		return consul.Reply{Waits: true}
	}
	var found []consul.Entry
	if e := s.Entry(r.Key); r.Recurse {
		found = s.Under(r.Key)
	} else if e != nil {
		found = []consul.Entry{*e}
	}
	if len(found) == 0 {
		return consul.Reply{Status: 404, Index: index}
	}
	return consul.Reply{Status: 200, Entries: slices.Clone(found), Index: index}
}

func (s *Server) put(r *consul.Request) consul.Reply {
	i, there := s.find(r.Key)
	holder := ""
	if there {
		holder = s.entries[i].Session
	}
	switch {
	case r.Acquire != "" && s.isDelayed(r.Key): // no session can acquire the key for now
		return consul.Reply{Status: 200}
	case r.Acquire != "" && !s.Alive(r.Acquire): // for a release this is no error, FACTS K8
		return consul.Reply{Status: 500}
	case r.Checked && r.Index == 0 && there, r.Checked && r.Index > 0 && (!there || s.entries[i].Modified != r.Index),
		r.Acquire != "" && holder != "" && holder != r.Acquire,
		r.Release != "" && holder != r.Release:
		return consul.Reply{Status: 200}
	}
	e := consul.Entry{Key: r.Key}
	if there {
		e = s.entries[i]
	}
	e.Value, e.Flags = r.Value, r.Flags
	switch {
	case r.Acquire != "" && holder == "":
		e.Session = r.Acquire
		e.Locks++
	case r.Release != "":
		e.Session = ""
	case r.Acquire == "":
		e.Locks = 0
	}
	if there && e == s.entries[i] { // a write that changes nothing has no new index
		return consul.Reply{Status: 200, OK: true}
	}
	s.index++
	if e.Modified = s.index; !there {
		e.Created = s.index
		s.entries = slices.Insert(s.entries, i, consul.Entry{})
	}
	s.entries[i] = e
	return consul.Reply{Status: 200, OK: true}
}

func (s *Server) isDelayed(key string) bool {
	return slices.ContainsFunc(s.delays, func(d delayed) bool { return d.key == key })
}

func (s *Server) delete(r *consul.Request) consul.Reply {
	if e := s.Entry(r.Key); r.Checked && e != nil && e.Modified != r.Index {
		return consul.Reply{Status: 200}
	}
	now := s.index + 1
	s.entries = slices.DeleteFunc(s.entries, func(e consul.Entry) bool {
		gone := e.Key == r.Key || r.Recurse && strings.HasPrefix(e.Key, r.Key)
		if gone {
			s.index = now
			s.leaveTombstone(e.Key)
		}
		return gone
	})
	return consul.Reply{Status: 200, OK: true}
}

// leaveTombstone records that the last change was the deletion of a key.
func (s *Server) leaveTombstone(key string) {
	s.tombstones = slices.DeleteFunc(s.tombstones, func(t tombstone) bool { return t.key == key })
	s.tombstones = append(s.tombstones, tombstone{key, s.index})
}

// Mentions reports whether a name occurs in any session, key, or value on the server.
func (s *Server) Mentions(name string) bool {
	return s.Alive(name) || slices.ContainsFunc(s.entries, func(e consul.Entry) bool {
		return e.Session == name || strings.Contains(e.Key, name) || strings.Contains(e.Value, name)
	})
}

// Code writes or reads keys and sessions. A state has no indexes: after reading, the index of every key is
// [consul.Fresh]. The client's own code says whether the client has seen the last change.
func (s *Server) Code(c *codec.Coder) {
	if c.Reading() {
		s.Reset()
		s.index, s.oldest = consul.Fresh, consul.Fresh // deletions have this index, too
	}
	n := codec.Length(c, len(s.entries))
	if c.Reading() {
		s.entries = append(s.entries, make([]consul.Entry, n)...)
	}
	for i := range s.entries {
		e := &s.entries[i]
		codec.String(c, &e.Key)
		codec.String(c, &e.Value)
		codec.String(c, &e.Session)
		if c.Reading() {
			e.Created, e.Modified = consul.Fresh, consul.Fresh
		}
	}
	n = codec.Length(c, len(s.sessions))
	if c.Reading() {
		s.sessions = append(s.sessions, make([]session, n)...)
	}
	for i := range s.sessions {
		x := &s.sessions[i]
		codec.String(c, &x.ID)
		codec.Bool(c, &x.Deletes)
		codec.Number(c, &x.TTL)
		codec.Number(c, &x.left)
	}
}
