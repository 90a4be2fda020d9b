package recognise

import (
	"cmp"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
)

// A token that is dead-lettered from one queue to another when the lock is released is not known by the queue from which it was
// taken; one that is gone, or comes back, is.
func TestTokenMoves(t *testing.T) {
	token := []map[numbering]int{{}}
	for name, after := range map[string]struct {
		queues Snapshot
		known  bool
	}{
		"back":      {Snapshot{"jobs.one": {ready: token}, "jobs.two": {}}, true},
		"gone":      {Snapshot{"jobs.one": {}, "jobs.two": {}}, true},
		"elsewhere": {Snapshot{"jobs.one": {}, "jobs.two": {ready: token}}, false},
	} {
		p := NewProbe()
		p.Uses = []*Use{{
			Lock: "jobs", Slot: 1, Granted: true,
			Before: Snapshot{"jobs.one": {ready: token}, "jobs.two": {}},
			During: Snapshot{"jobs.one": {taken: token}, "jobs.two": {}},
			After:  after.queues,
		}}
		if d := p.Design(lock.Mutex, Naming{}); d.Known() != after.known {
			t.Errorf("%s: %s", name, d.String())
		}
	}
}

// A consumer beside whom others may consume the queue holds nothing by that, where there is but one to hold it; and what a single
// active consumer is sent tells only that it is that.
func TestConsumers(t *testing.T) {
	token := []map[numbering]int{{}}
	for name, c := range map[string]struct {
		queue         queueState
		known, active bool
	}{
		"exclusive":                          {queueState{consumers: 1, sole: true}, true, false},
		"single active":                      {queueState{consumers: 1, single: true}, true, true},
		"one of many":                        {queueState{consumers: 1, shared: true}, false, false},
		"with a message":                     {queueState{consumers: 1, shared: true, taken: token}, true, false},
		"single active, and it has messages": {queueState{consumers: 1, single: true, taken: token}, true, true},
	} {
		p := NewProbe()
		before := Snapshot{"jobs.lock": {ready: c.queue.taken}}
		p.Uses = []*Use{{Lock: "jobs", Slot: 1, Granted: true, Before: before, During: Snapshot{"jobs.lock": c.queue}, After: before}}
		if d := p.Design(lock.Mutex, Naming{}); d.Known() != c.known || d.Active != c.active {
			t.Errorf("%s: %s", name, d.String())
		}
	}
}

// Messages for several slots in one queue are told from one message for a lock, also where whoever holds a slot has taken all.
func TestTakenAll(t *testing.T) {
	two := []map[numbering]int{{}, {}}
	for slots, single := range map[int]bool{1: false, 2: true} {
		p := NewProbe()
		there := Snapshot{"jobs.slots": {ready: two[:slots]}}
		p.Made = []Creation{{Lock: "jobs", Slots: slots, Before: Snapshot{}, After: there}}
		p.Uses = []*Use{{Lock: "jobs", Slot: 1, Granted: true, Before: there, During: Snapshot{"jobs.slots": {taken: two[:slots]}}, After: there}}
		if d := p.Design(lock.Semaphore, Naming{}); !d.Known() || d.Single != single {
			t.Errorf("%d slots: %s", slots, d.String())
		}
	}
}

// What comes with a lock beside what holds it is not taken for that.
func TestBeside(t *testing.T) {
	serial, slot := numbering{field: inMessageID}, numbering{inHeader, "slot"}
	message := func(s, n int) map[numbering]int { return map[numbering]int{serial: s, slot: n} }
	note, two := []map[numbering]int{{}}, []map[numbering]int{{}, {}}
	for name, c := range map[string]struct {
		kind     lock.Kind
		takes    string
		asked    string
		made     Snapshot
		use      Use
		other    *Use   // at the same time
		expected string // of the design: what slots exist or are held by, or messages' numbers are in; "" is that nothing is known
	}{
		"a message, by the holder of an exclusive queue of another name": {
			kind: lock.Mutex, takes: "basic.get",
			use: Use{Before: Snapshot{"jobs.stats": {ready: note}}, During: Snapshot{"jobs.stats": {taken: note}, "vf3x": {owned: true}}, After: Snapshot{"jobs.stats": {ready: note}}},
		},
		"a consumer, of the holder of an exclusive queue of another name": {
			kind: lock.Mutex,
			use:  Use{Before: Snapshot{"jobs.breaks": {}}, During: Snapshot{"jobs.breaks": {consumers: 1}, "vf3x": {owned: true}}, After: Snapshot{"jobs.breaks": {}}},
		},
		"an exclusive queue, of the holder of a message in a queue of another name": {
			kind: lock.Semaphore, takes: "basic.get", made: Snapshot{"jobs.1.mailbox": {}, "jobs.2.mailbox": {}},
			use: Use{
				Before: Snapshot{"vf3x": {ready: note}},
				During: Snapshot{"jobs.1.contact": {owned: true}, "vf3x": {taken: note}},
				After:  Snapshot{"vf3x": {ready: note}},
			},
		},
		"a message, by the exclusive consumer of another queue": {
			kind: lock.Mutex, takes: "basic.consume",
			use: Use{
				Before: Snapshot{"jobs.turns": {ready: note}},
				During: Snapshot{"jobs.turns": {taken: note, consumers: 1, shared: true}, "jobs.lock": {consumers: 1, sole: true}},
				After:  Snapshot{"jobs.turns": {ready: note}},
			},
		},
		"a message, by who consumes another queue as others may": {
			kind: lock.Mutex, takes: "basic.get", expected: "{name}.token",
			use: Use{
				Before: Snapshot{"jobs.token": {ready: note}, "jobs.news": {}},
				During: Snapshot{"jobs.token": {taken: note}, "jobs.news": {consumers: 1, shared: true}},
				After:  Snapshot{"jobs.token": {ready: note}, "jobs.news": {}},
			},
		},
		"a message, by who consumes another queue, which may say that there are slots": {
			kind: lock.Semaphore, takes: "basic.get", made: Snapshot{"jobs.tokens": {ready: two}, "jobs.open": {}},
			use: Use{
				Before: Snapshot{"jobs.tokens": {ready: two}, "jobs.open": {}},
				During: Snapshot{"jobs.tokens": {ready: note, taken: note}, "jobs.open": {consumers: 1, shared: true}},
				After:  Snapshot{"jobs.tokens": {ready: two}, "jobs.open": {}},
			},
		},
		"a message that another takes the place of, for the holder of an exclusive queue": {
			kind: lock.Mutex, takes: "basic.get", expected: "{name}.holder",
			use: Use{
				Before: Snapshot{"jobs.counter": {ready: note}},
				During: Snapshot{"jobs.counter": {ready: note}, "jobs.holder": {owned: true}},
				After:  Snapshot{"jobs.counter": {ready: note}},
			},
		},
		"another queue for each slot, which nobody asks for": {
			kind: lock.Semaphore, asked: "slot-1-of-jobs", expected: "slot-{n}-of-{name}",
			made: Snapshot{"jobs:1:log": {}, "jobs:2:log": {}, "slot-1-of-jobs": {}, "slot-2-of-jobs": {}},
			use:  Use{During: Snapshot{"jobs:1:holder": {owned: true}}},
		},
		"two queues for each slot, of which somebody asks for both": {
			kind: lock.Semaphore, asked: "slot-1-of-jobs jobs:1:log",
			made: Snapshot{"jobs:1:log": {}, "jobs:2:log": {}, "slot-1-of-jobs": {}, "slot-2-of-jobs": {}},
			use:  Use{During: Snapshot{"jobs:1:holder": {owned: true}}},
		},
		"a serial in each message, which begins like the numbers of slots": {
			kind: lock.Semaphore, takes: "basic.get", expected: "slot",
			made: Snapshot{"jobs.slots": {ready: []map[numbering]int{message(1, 1), message(2, 2)}}},
			use: Use{
				Before: Snapshot{"jobs.slots": {ready: []map[numbering]int{message(1, 1), message(2, 2)}}},
				During: Snapshot{"jobs.slots": {ready: []map[numbering]int{message(2, 2)}, taken: []map[numbering]int{message(1, 1)}}},
				After:  Snapshot{"jobs.slots": {ready: []map[numbering]int{message(2, 2), message(3, 1)}}},
			},
			other: &Use{
				Lock: "jobs", Slot: 2, Granted: true,
				Before: Snapshot{"jobs.slots": {ready: []map[numbering]int{message(2, 2)}, taken: []map[numbering]int{message(1, 1)}}},
				During: Snapshot{"jobs.slots": {taken: []map[numbering]int{message(1, 1), message(2, 2)}}},
				After:  Snapshot{"jobs.slots": {ready: []map[numbering]int{message(4, 2)}, taken: []map[numbering]int{message(1, 1)}}},
			},
		},
	} {
		p := NewProbe()
		p.takes = c.takes
		for _, queue := range strings.Fields(c.asked) {
			p.asked[queue] = true
		}
		if c.made != nil {
			p.Made = []Creation{{Lock: "jobs", Slots: 2, Before: Snapshot{}, After: c.made}}
		}
		c.use.Lock, c.use.Slot, c.use.Granted = "jobs", 1, true
		if p.Uses = []*Use{&c.use}; c.other != nil {
			p.Uses = append(p.Uses, c.other)
		}
		d := p.Design(c.kind, Naming{})
		said := ""
		if d.Known() {
			said = cmp.Or(d.A.Text, d.B.Text)
			if d.Number != noNumber {
				said = d.Number.header
			}
		}
		if said != c.expected || c.expected == "" && d.Known() {
			t.Errorf("%s: %s", name, d.String())
		}
	}
}

// Slots are not taken to be there as long as their queues are, where it is asked of an exchange to which these are bound.
func TestRouted(t *testing.T) {
	for name, c := range map[string]struct{ bound, named, known bool }{
		"bound":                                {true, false, false},
		"bound, and asked for by its own name": {true, true, true},
		"not bound, and nobody asks":           {false, false, true},
	} {
		p := NewProbe()
		p.bound["jobs.sign"], p.named["jobs.sign"] = c.bound, c.named
		p.Made = []Creation{{Lock: "jobs", Slots: 1, Before: Snapshot{}, After: Snapshot{"jobs.sign": {}}}}
		p.Uses = []*Use{{
			Lock: "jobs", Slot: 1, Granted: true,
			Before: Snapshot{"jobs.sign": {}}, During: Snapshot{"jobs.sign": {}, "jobs.key": {owned: true}}, After: Snapshot{"jobs.sign": {}},
		}}
		if d := p.Design(lock.PersistentMutex, Naming{}); d.Known() != c.known {
			t.Errorf("%s: %s", name, d.String())
		}
	}
}

// What administrators consume, to keep others out, says nothing of what a lock is held by.
func TestAdministratorsConsume(t *testing.T) {
	for _, using := range []bool{false, true} {
		p := NewProbe()
		p.Using = using
		p.Hear(&wire.Command{Message: wire.Message{Channel: 1, Method: &frame.BasicConsume{Queue: "jobs.admin", Exclusive: true}}})
		p.Uses = []*Use{{
			Lock: "jobs", Slot: 1, Granted: true, // a message is gone meanwhile
			Before: Snapshot{"tokens": {ready: []map[numbering]int{{}}}}, During: Snapshot{"jobs.key": {owned: true}, "tokens": {}}, After: Snapshot{"tokens": {}},
		}}
		if d := p.Design(lock.Mutex, Naming{}); d.Known() == using {
			t.Errorf("its users: %v: %s", using, d.String())
		}
	}
}
