package rabbitmq

import (
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/spec"
)

// recorder writes a history down as it happens. Events have the order in which they are added.
type recorder struct {
	began time.Time

	mu     sync.Mutex
	events []spec.Event
}

// now is the time since the run began, in nanoseconds.
func (r *recorder) now() int64 { return int64(time.Since(r.began)) }

func (r *recorder) add(e spec.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Time = r.now()
	if n := len(r.events); n > 0 {
		e.Time = max(e.Time, r.events[n-1].Time+1)
	}
	r.events = append(r.events, e)
}

// since is something that happened to a process at an earlier moment.
func (r *recorder) since(moment int64, f spec.F, process int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := spec.Event{Time: moment, Process: spec.Nemesis, Target: process, Type: spec.Info, F: f}
	i := sort.Search(len(r.events), func(i int) bool { return r.events[i].Time > moment })
	r.events = slices.Insert(r.events, i, e)
}

// invoke is a call. arg is the number of slots of create, add and remove, and the slot of verify and
// release.
func (r *recorder) invoke(process int32, op lock.Op, arg uint8) {
	e := spec.Event{Process: process, Type: spec.Invoke, F: spec.F(op)}
	switch op {
	case lock.Verify, lock.Release:
		e.Slot = uint16(arg)
	case lock.Create, lock.Add, lock.Remove:
		e.Slots = uint16(arg)
	}
	r.add(e)
}

var eventTypes = [...]spec.EventType{lock.Done: spec.OK, lock.Failed: spec.Fail, lock.Unknown: spec.Info}

// complete is the end of a call.
func (r *recorder) complete(process int32, op lock.Op, res lock.Result) {
	r.add(spec.Event{
		Process: process, Type: eventTypes[res.Outcome], F: spec.F(op), Slot: uint16(res.Slot),
		Slots: uint16(res.Slots), Held: res.Held, Reason: res.Reason,
	})
}

// world is something that happened to a process, or to the broker.
func (r *recorder) world(f spec.F, process int32) {
	r.add(spec.Event{Process: spec.Nemesis, Target: process, Type: spec.Info, F: f})
}

// history is what was recorded.
func (r *recorder) history(c *StressConfig) *spec.History {
	return &spec.History{
		Kind: c.Target.Kind, Locks: []string{stressLock}, Slots: []int{c.Slots}, GoneLate: true, Events: r.events,
	}
}
