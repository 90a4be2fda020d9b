package consul

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
)

// one is a client of a semaphore whose users may have agreed on less than others.
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

// acquires reports whether the client got a slot.
func (o *one) acquires(t *testing.T, s *consul.Server) bool {
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

// watches has a holder read what its watch is told of.
func (o *one) watches(s *consul.Server) bool {
	r := o.Read()
	reply := s.Apply(&r)
	o.Notice(&o.m, &reply)
	return o.m.Held
}

func store() *consul.Server {
	s := new(consul.Server)
	s.Reset()
	return s
}

// Where limits differ, that of whoever makes the lock's key is everybody's: who thinks of more is refused, and who thinks of
// fewer is one of more than it meant to be.
func TestLimitsDiffer(t *testing.T) {
	for _, c := range []struct {
		limits []int // of clients, in the order in which they acquire
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

// An operator who deletes the lock's key has the next contender make another, with itself: beside a holder who knows
// nothing of it before its watch is answered (FACTS K7).
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
