package stress

import (
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Recorder records the history of one lock during a run. Events are in the order in which they are added.
type Recorder struct {
	began time.Time

	mu     sync.Mutex
	events []history.Event
}

// Begin sets the start of the run to the present time. It is called before anything is recorded.
func (r *Recorder) Begin() { r.began = time.Now() }

// Now returns the time since the start of the run, in nanoseconds.
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

// Since records an event of a process at an earlier time, which is a result of Now.
func (r *Recorder) Since(moment int64, f history.F, process int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := history.Occurrence(f, process)
	e.Time = moment
	i := sort.Search(len(r.events), func(i int) bool { return r.events[i].Time > moment })
	r.events = slices.Insert(r.events, i, e)
}

// Invoke records the invocation of an operation. arg is the number of slots for create, add and remove, the slot for
// verify and release, and the limit for an acquire with a limit.
func (r *Recorder) Invoke(process int32, op lock.Op, arg uint8) {
	r.add(history.Invocation(process, 0, op, arg, 0))
}

// Complete records the completion of an operation. token is the fencing token of a granted acquire; 0 if there is
// none.
func (r *Recorder) Complete(process int32, op lock.Op, res lock.Result, token int64) {
	e := history.Completion(process, 0, op, res)
	e.Token = token
	r.add(e)
}

// World records an event that a client did not cause itself, such as a crash or a restart of the broker.
func (r *Recorder) World(f history.F, process int32) {
	r.add(history.Occurrence(f, process))
}

// History returns the recorded history. It must not be called before all recording has ended. The history assumes
// that the broker may notice the end of a crashed client's connection late, or never.
func (r *Recorder) History(kind lock.Kind, l *Load) *history.History {
	return &history.History{
		Kind: kind, Locks: []string{Lock}, Slots: []int{l.Slots}, Clients: l.Members(), GoneLate: true, Events: r.events,
	}
}

// Machines records a machine fault, or its end, at the present time.
func (r *Recorder) Machines(e history.Event) { r.add(e) }
