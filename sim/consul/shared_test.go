package consul

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim/consul/server"
)

// one is a client of a semaphore whose clients may state different limits.
type one struct {
	consul.Protocol
	m    consul.Machine
	name string
}

func newOne(name string, limit int) *one {
	o := consul.Confirmed()
	o.Deletes = true
	return &one{Protocol: consul.Protocol{Options: o, Prefix: "jobs", Limit: limit}, name: name}
}

// acquires lets the client acquire, and reports whether it got a slot.
func (o *one) acquires(t *testing.T, s *server.Server) bool {
	t.Helper()
	o.Start(&o.m, lock.Acquire)
	for range 100 {
		if o.m.Phase == consul.Idle {
			return o.m.Held
		}
		r := o.Next(&o.m, o.name)
		reply := s.Apply(&r)
		o.Apply(&o.m, &r, &reply)
	}
	t.Fatalf("%s does not come to an end", o.name)
	return false
}

// watches lets a holder read the change that its watch reports. It returns whether the client still believes that it
// holds a slot.
func (o *one) watches(s *server.Server) bool {
	r := o.Read()
	reply := s.Apply(&r)
	o.Notice(&o.m, &reply)
	return o.m.Held
}

func store() *server.Server {
	s := new(server.Server)
	s.Reset()
	return s
}

// TestLimitsDiffer: if clients state different limits, the limit of the client that creates the lock's key applies to
// all. A client that states a larger limit is refused. A client that states a smaller one may share the lock with more
// holders than it wanted.
func TestLimitsDiffer(t *testing.T) {
	for _, c := range []struct {
		limits []int // the limits that the clients state, in the order in which they acquire
		held   []bool
	}{
		{[]int{1, 2}, []bool{true, false}},
		{[]int{2, 1, 3}, []bool{true, true, false}},
	} {
		s := store()
		var held []bool
		for i, limit := range c.limits {
			held = append(held, newOne(string(rune('a'+i)), limit).acquires(t, s))
		}
		if !slices.Equal(held, c.held) {
			t.Errorf("limits %v: %v hold a slot, want %v", c.limits, held, c.held)
		}
	}
}

// TestLockDeleted: after an operator deletes the lock's key, the next client creates it again and becomes a holder. The
// old holder learns of this only when its watch is answered (FACTS K7).
func TestLockDeleted(t *testing.T) {
	s := store()
	a, b, c := newOne("a", 1), newOne("b", 1), newOne("c", 1)
	if !a.acquires(t, s) || b.acquires(t, s) {
		t.Fatal("a lock of one slot has not one holder")
	}
	s.Apply(&consul.Request{Method: consul.Delete, Key: a.Lock()})
	if !c.acquires(t, s) || !a.m.Held {
		t.Error("nobody is granted a lock whose key was deleted, or its holder knows")
	}
	if a.watches(s) || !c.watches(s) {
		t.Error("the watch tells the wrong one that it has lost its slot")
	}
}
