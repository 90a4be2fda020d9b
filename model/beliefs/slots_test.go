package beliefs

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestSlots: an operation that succeeds without overlap has a known effect. One that failed or has no answer may take
// effect at any later moment.
func TestSlots(t *testing.T) {
	type call struct {
		op  lock.Op
		n   int
		how history.EventType // Invoke means that there is no answer
	}
	for _, c := range []struct {
		name                 string
		calls                []call
		least, most, highest int
	}{
		{"nothing", nil, 2, 2, 2},
		{"added", []call{{lock.Add, 1, history.OK}}, 3, 3, 3},
		{"removed", []call{{lock.Remove, 1, history.OK}}, 1, 1, 2},
		{"destroyed and made", []call{{lock.Destroy, 0, history.OK}, {lock.Create, 3, history.OK}}, 3, 3, 3},
		{"an add that failed", []call{{lock.Add, 1, history.Fail}}, 2, 3, 3},
		{"a remove without an answer", []call{{lock.Remove, 1, history.Invoke}, {lock.Add, 1, history.OK}}, 1, 3, 3},
		{"an add without an answer, and a create", []call{{lock.Add, 2, history.Invoke}, {lock.Create, 3, history.OK}}, 2, 5, 5},
		{"a destroy that failed, and a create", []call{{lock.Destroy, 0, history.Info}, {lock.Create, 1, history.OK}}, 0, 2, 2},
	} {
		s := NewSlots(2)
		for _, k := range c.calls {
			s.Begin(k.op, k.n)
			if k.how != history.Invoke {
				s.End(k.op, k.n, k.how)
			}
		}
		if s.Least != c.least || s.Most != c.most || s.Highest != c.highest {
			t.Errorf("%s: %d to %d slots, at most number %d; expected %d to %d, %d", c.name, s.Least, s.Most, s.Highest, c.least, c.most, c.highest)
		}
	}
}

// TestSlotsOverlap: if overlapping operations all succeed and their order does not matter, their effects are added up.
func TestSlotsOverlap(t *testing.T) {
	type call struct {
		op lock.Op
		n  int
	}
	for _, c := range []struct {
		name        string
		calls       []call
		fails       bool // the last call fails
		least, most int
	}{
		{"two adds", []call{{lock.Add, 1}, {lock.Add, 2}}, false, 5, 5},
		{"an add and a remove", []call{{lock.Add, 1}, {lock.Remove, 2}}, false, 1, 1},
		{"removes of more than there are", []call{{lock.Add, 1}, {lock.Remove, 3}}, false, 0, 3},
		{"an add and a destroy", []call{{lock.Add, 1}, {lock.Destroy, 0}}, false, 0, 3},
		{"an add that fails", []call{{lock.Add, 1}, {lock.Add, 2}}, true, 2, 5},
	} {
		s := NewSlots(2)
		for _, k := range c.calls {
			s.Begin(k.op, k.n)
		}
		for i, k := range c.calls {
			how := history.OK
			if c.fails && i == len(c.calls)-1 {
				how = history.Fail
			}
			s.End(k.op, k.n, how)
		}
		if s.Least != c.least || s.Most != c.most {
			t.Errorf("%s: %d to %d slots, expected %d to %d", c.name, s.Least, s.Most, c.least, c.most)
		}
	}
}

// granted are the events of an acquire by a client that is granted the slot.
func granted(client int32, slot uint8) []history.Event {
	return []history.Event{
		history.Invocation(client, 0, lock.Acquire, 0, 0),
		history.Completion(client, 0, lock.Acquire, lock.Result{Outcome: lock.Done, Held: true, Slot: slot}),
	}
}

// TestCertain: it is a violation if more clients certainly hold the lock than it has slots, or if a granted slot cannot
// exist. It is none if a slot is removed while a client holds it.
func TestCertain(t *testing.T) {
	remove := []history.Event{
		history.Invocation(3, 0, lock.Remove, 1, 0), history.Completion(3, 0, lock.Remove, lock.Result{Outcome: lock.Done}),
	}
	join := func(all ...[]history.Event) (out []history.Event) {
		for _, e := range all {
			out = append(out, e...)
		}
		return out
	}
	for _, c := range []struct {
		name   string
		events []history.Event
		broken property.Set
	}{
		{"two of two", join(granted(1, 0), granted(2, 0)), 0},
		{"three of two", join(granted(1, 0), granted(2, 0), granted(3, 0)), 1 << property.LimitRespected},
		{"a third slot of two", granted(1, 3), 1 << property.NoPhantomSlot},
		{"one is removed under its holder", join(granted(1, 0), granted(2, 0), remove), 0},
		{"one is removed, and both are granted", join(remove, granted(1, 0), granted(2, 0)), 1 << property.LimitRespected},
	} {
		h := &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{2}, Clients: 3, GoneMayFree: true, Events: c.events}
		j := Certain(h, linear.Options{})
		for i := range h.Events {
			j.Event(i, &h.Events[i])
		}
		var broken property.Set
		for _, v := range j.Verdicts() {
			if v.Decision == linear.Illegal {
				broken = broken.With(v.Property)
			}
		}
		if broken != c.broken {
			t.Errorf("%s: %v, expected %v", c.name, broken.Names(), c.broken.Names())
		}
	}
}

// TestPersistentMutexIsThere: a persistent mutex may be granted only if it may have existed since the acquire was
// invoked.
func TestPersistentMutexIsThere(t *testing.T) {
	acquire := "c1 acquire\nc1 ok acquire 1\n"
	for _, c := range []struct {
		name, text string
		slots      int
		breaks     property.Property
		why        string
	}{
		{"there", acquire, 1, property.Count, ""},
		{"never created", acquire, 0, property.NoPhantomSlot, "c1 was granted the lock (event 1), which nobody had created"},
		{"destroyed", "c2 destroy\nc2 ok destroy\n" + acquire, 1, property.RemovalDrains,
			"c1 was granted the lock (event 3), which had been destroyed before it asked"},
		{"destroyed and created", "c2 destroy\nc2 ok destroy\nc2 create 1\nc2 ok create\n" + acquire, 1, property.Count, ""},
		{"perhaps destroyed", "c2 destroy\nc2 info destroy timed-out\n" + acquire, 1, property.Count, ""},
		{"destroyed meanwhile", "c1 acquire\nc2 destroy\nc2 ok destroy\nc1 ok acquire 1\n", 1, property.Count, ""},
	} {
		h := drawn.Script(t, lock.PersistentMutex, c.slots, c.text)
		h.GoneMayFree = true
		w := Certain(h, linear.Options{})
		for i := range h.Events {
			w.Event(i, &h.Events[i])
		}
		checked := 0
		for _, v := range w.Verdicts() {
			if v.Property != property.NoPhantomSlot && v.Property != property.RemovalDrains {
				continue
			}
			checked += v.Checked
			if broken := v.Decision == linear.Illegal; broken != (v.Property == c.breaks) || broken && v.Why != c.why {
				t.Errorf("%s: %s: %s %q, expected %q of %s", c.name, v.Property, v.Decision, v.Why, c.why, c.breaks)
			}
		}
		if checked != 2 {
			t.Errorf("%s: checked %d times, expected each property once", c.name, checked)
		}
	}
}
