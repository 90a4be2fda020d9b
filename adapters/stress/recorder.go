package stress

import (
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Recorder writes the history of one lock down as it happens. Events have the order in which they are
// added.
type Recorder struct {
	began time.Time

	mu     sync.Mutex
	events []history.Event
}

// Begin is the beginning of the run, before anything is recorded.
func (r *Recorder) Begin() { r.began = time.Now() }

// Now is the time since the run began, in nanoseconds.
func (r *Recorder) Now() int64 { return int64(time.Since(r.began)) }

func (r *Recorder) add(e history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Time = r.Now()
	if n := len(r.events); n > 0 {
		e.Time = max(e.Time, r.events[n-1].Time+1)
	}
	r.events = append(r.events, e)
}

// Since is something that happened to a process at an earlier moment, as Now told it.
func (r *Recorder) Since(moment int64, f history.F, process int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := history.Occurrence(f, process)
	e.Time = moment
	i := sort.Search(len(r.events), func(i int) bool { return r.events[i].Time > moment })
	r.events = slices.Insert(r.events, i, e)
}

// Invoke is a call. arg is the number of slots of create, add and remove, the slot of verify and release, and the limit that an
// acquire states.
func (r *Recorder) Invoke(process int32, op lock.Op, arg uint8) {
	r.add(history.Invocation(process, 0, op, arg, 0))
}

// Complete is the end of a call. token is the fencing token of what it granted, 0 where there is none.
func (r *Recorder) Complete(process int32, op lock.Op, res lock.Result, token int64) {
	e := history.Completion(process, 0, op, res)
	e.Token = token
	r.add(e)
}

// World is something that happened to a process, or to the broker.
func (r *Recorder) World(f history.F, process int32) {
	r.add(history.Occurrence(f, process))
}

// History is what was recorded of a lock under a load, once nobody records any more. The end
// of a crashed client's connection is taken to be seen late, if at all.
func (r *Recorder) History(kind lock.Kind, l *Load) *history.History {
	return &history.History{
		Kind: kind, Locks: []string{Lock}, Slots: []int{l.Slots}, Clients: l.Members(), GoneLate: true, Events: r.events,
	}
}

// Machines is a fault of machines, or the end of one. Its time is now.
func (r *Recorder) Machines(e history.Event) { r.add(e) }
