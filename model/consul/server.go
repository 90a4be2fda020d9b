package consul

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/codec"
)

// Server is a Consul of one server. Its zero value has nothing. Time passes only by [Server.Advance].
type Server struct {
	index      uint64
	entries    []Entry // by key
	sessions   []Session
	tombstones []tombstone // what was deleted, for the indexes of prefixes
	oldest     uint64      // no prefix has an older index, in a state that was read
	delays     []delayed
}

// tombstone is a deleted key, and the index of its deletion.
type tombstone struct {
	key   string
	index uint64
}

// Reset makes it a server without anything.
func (s *Server) Reset() {
	*s = Server{entries: s.entries[:0], sessions: s.sessions[:0], tombstones: s.tombstones[:0], delays: s.delays[:0], index: 1}
}

// Apply carries out a request. A blocking query that has nothing to tell yet waits: it is asked again later.
func (s *Server) Apply(r *Request) Reply {
	switch r.Method {
	case CreateSession:
		return s.createSession(r.Session)
	case RenewSession:
		return s.renewSession(r.Session.ID)
	case DestroySession:
		s.End(r.Session.ID)
		return Reply{Status: 200, OK: true}
	case Get:
		return s.get(r)
	case Put:
		return s.put(r)
	}
	return s.delete(r)
}

// find is where a key is, or would be.
func (s *Server) find(key string) (int, bool) {
	return slices.BinarySearchFunc(s.entries, key, func(e Entry, key string) int { return cmp.Compare(e.Key, key) })
}

// Entry is the entry of a key, or nil.
func (s *Server) Entry(key string) *Entry {
	if i, there := s.find(key); there {
		return &s.entries[i]
	}
	return nil
}

// Under are the entries whose keys begin with a prefix, by their keys.
func (s *Server) Under(prefix string) []Entry {
	from, _ := s.find(prefix)
	to := from
	for to < len(s.entries) && strings.HasPrefix(s.entries[to].Key, prefix) {
		to++
	}
	return s.entries[from:to]
}

// Index is when something under a prefix has changed last. Where there never was anything, it is 1.
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

func (s *Server) get(r *Request) Reply {
	index := s.Index(r.Key)
	if r.Index > 0 && index <= r.Index {
		return Reply{Waits: true}
	}
	var found []Entry
	if e := s.Entry(r.Key); r.Recurse {
		found = s.Under(r.Key)
	} else if e != nil {
		found = []Entry{*e}
	}
	if len(found) == 0 {
		return Reply{Status: 404, Index: index}
	}
	return Reply{Status: 200, Entries: slices.Clone(found), Index: index}
}

func (s *Server) put(r *Request) Reply {
	i, there := s.find(r.Key)
	holder := ""
	if there {
		holder = s.entries[i].Session
	}
	switch {
	case r.Acquire != "" && s.isDelayed(r.Key): // whoever asks
		return Reply{Status: 200}
	case r.Acquire != "" && !s.Alive(r.Acquire): // FACTS K8; of a release that is no error
		return Reply{Status: 500}
	case r.Checked && r.Index == 0 && there, r.Checked && r.Index > 0 && (!there || s.entries[i].Modified != r.Index),
		r.Acquire != "" && holder != "" && holder != r.Acquire,
		r.Release != "" && holder != r.Release:
		return Reply{Status: 200}
	}
	e := Entry{Key: r.Key}
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
	if there && e == s.entries[i] { // what changes nothing has no index
		return Reply{Status: 200, OK: true}
	}
	s.index++
	if e.Modified = s.index; !there {
		e.Created = s.index
		s.entries = slices.Insert(s.entries, i, Entry{})
	}
	s.entries[i] = e
	return Reply{Status: 200, OK: true}
}

func (s *Server) isDelayed(key string) bool {
	return slices.ContainsFunc(s.delays, func(d delayed) bool { return d.key == key })
}

func (s *Server) delete(r *Request) Reply {
	if e := s.Entry(r.Key); r.Checked && e != nil && e.Modified != r.Index {
		return Reply{Status: 200}
	}
	now := s.index + 1
	s.entries = slices.DeleteFunc(s.entries, func(e Entry) bool {
		gone := e.Key == r.Key || r.Recurse && strings.HasPrefix(e.Key, r.Key)
		if gone {
			s.index = now
			s.leaveTombstone(e.Key)
		}
		return gone
	})
	return Reply{Status: 200, OK: true}
}

// leaveTombstone notes that a key goes with the last change.
func (s *Server) leaveTombstone(key string) {
	s.tombstones = slices.DeleteFunc(s.tombstones, func(t tombstone) bool { return t.key == key })
	s.tombstones = append(s.tombstones, tombstone{key, s.index})
}

// Mentions reports whether a name occurs in any session, key, or value.
func (s *Server) Mentions(name string) bool {
	return s.Alive(name) || slices.ContainsFunc(s.entries, func(e Entry) bool {
		return e.Session == name || strings.Contains(e.Key, name) || strings.Contains(e.Value, name)
	})
}

// Code writes or reads keys and sessions. Indexes are not part of a state: what is read has all changed at [Fresh].
// Whether a client has seen the last change is the client's to write.
func (s *Server) Code(c *codec.Coder) {
	if c.Reading() {
		s.Reset()
		s.index, s.oldest = Fresh, Fresh // deletions count as well
	}
	n := codec.Length(c, len(s.entries))
	if c.Reading() {
		s.entries = append(s.entries, make([]Entry, n)...)
	}
	for i := range s.entries {
		e := &s.entries[i]
		codec.String(c, &e.Key)
		codec.String(c, &e.Value)
		codec.String(c, &e.Session)
		if c.Reading() {
			e.Created, e.Modified = Fresh, Fresh
		}
	}
	n = codec.Length(c, len(s.sessions))
	if c.Reading() {
		s.sessions = append(s.sessions, make([]Session, n)...)
	}
	for i := range s.sessions {
		x := &s.sessions[i]
		codec.String(c, &x.ID)
		codec.Bool(c, &x.Deletes)
		codec.Number(c, &x.TTL)
		codec.Number(c, &x.left)
	}
}

// Of a state that is read, Fresh is the index of the last change, and Stale one before it.
const (
	Stale uint64 = 1
	Fresh uint64 = 2
)
