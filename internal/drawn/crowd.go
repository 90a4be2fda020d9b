package drawn

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Crowd configures a history of many clients that share one semaphore. It may be very long, since its events are
// drawn one by one. The history is legal.
type Crowd struct {
	Operations, Clients, Slots int
	// Unanswered is the share of operations without an answer. The client of such an operation dies, and a new client
	// replaces it.
	Unanswered float64
	// Evidence means that the history also records crashes, and the later ends of the crashed clients' connections.
	Evidence bool
}

// noticed is the average number of steps after which the end of a connection is noticed, if one client is dead.
const noticed = 200

// member is one client of a [Crowd]'s history.
type member struct {
	process int32
	slot    int // the slot that the client holds; 0 if none
	op      lock.Op
	done    bool // the present operation has taken effect
	result  int
}

// crowd is the state while a [Crowd]'s history is drawn.
type crowd struct {
	Crowd
	choose Seeded
	emit   func(history.Event) error
	all    []member
	holder []int32 // process that holds a slot, by slot; 0 if free
	dying  []int32 // crashed processes whose connections have not ended
	next   int32
	begun  int // number of operations so far
}

// History returns the history without its events.
func (d Crowd) History() *history.History {
	return &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{d.Slots}}
}

// Whole returns the history with all its events.
func (d Crowd) Whole(seed uint64) *history.History {
	h := d.History()
	h.Events = make([]history.Event, 0, 2*d.Operations+d.Operations/10)
	_ = d.Each(seed, func(e history.Event) error { // no error, as the function returns none
		h.Events = append(h.Events, e)
		return nil
	})
	return h
}

// Each calls emit with each event of the history. If emit returns an error, Each stops and returns it.
func (d Crowd) Each(seed uint64, emit func(history.Event) error) error {
	w := &crowd{Crowd: d, choose: BySeed(seed), emit: emit, holder: make([]int32, d.Slots+1), all: make([]member, d.Clients)}
	for i := range w.all {
		w.replace(&w.all[i])
	}
	for w.begun < d.Operations || len(w.dying) > 0 {
		if err := w.step(); err != nil {
			return err
		}
	}
	return nil
}

func (w *crowd) replace(m *member) {
	w.next++
	*m = member{process: w.next}
}

// step draws the next step: a connection of a crashed client may end, and then a client calls, takes effect or gets
// its answer.
func (w *crowd) step() error {
	over := w.begun >= w.Operations
	if len(w.dying) > 0 && (over || w.choose.Below(noticed) < len(w.dying)) {
		if err := w.bury(); err != nil {
			return err
		}
	}
	m := &w.all[w.choose.Below(len(w.all))]
	switch {
	case m.op == lock.NoOp && over:
		return nil
	case m.op == lock.NoOp:
		w.begun++
		m.op, m.done = lock.Acquire, false
		if m.slot > 0 {
			m.op = []lock.Op{lock.Release, lock.Verify}[w.choose.Below(2)]
		}
		return w.emit(history.Event{Process: m.process, Type: history.Invoke, F: history.F(m.op), Slot: uint16(m.slot)})
	case !m.done:
		w.effect(m)
		return nil
	case w.choose.Float64() < w.Unanswered:
		return w.die(m)
	default:
		return w.emit(m.answer())
	}
}

// bury ends the connection of the process that crashed first, which frees its slots.
func (w *crowd) bury() error {
	p := w.dying[0]
	w.dying = w.dying[1:]
	for s := range w.holder {
		if w.holder[s] == p {
			w.holder[s] = 0
		}
	}
	return w.witness(history.Gone, p)
}

// die lets a client crash, and replaces it by a new one.
func (w *crowd) die(m *member) error {
	p := m.process
	w.dying = append(w.dying, p)
	w.replace(m)
	return w.witness(history.Crash, p)
}

func (w *crowd) witness(f history.F, of int32) error {
	if !w.Evidence {
		return nil
	}
	return w.emit(history.Event{Process: history.Nemesis, Type: history.Info, F: f, Target: of})
}

// effect carries out the present operation of a client.
func (w *crowd) effect(m *member) {
	m.done = true
	switch m.op {
	case lock.Acquire:
		m.result = 0
		for s := 1; s <= w.Slots; s++ {
			if w.holder[s] == 0 {
				w.holder[s], m.result = m.process, s
				return
			}
		}
	case lock.Release:
		w.holder[m.slot] = 0
	}
}

// answer ends a client's operation, and returns the completion event.
func (m *member) answer() history.Event {
	e := history.Event{Process: m.process, Type: history.OK, F: history.F(m.op), Slot: uint16(m.slot), Held: m.op == lock.Verify}
	switch {
	case m.op == lock.Release:
		m.slot = 0
	case m.op == lock.Acquire && m.result > 0:
		m.slot = m.result
		e.Slot, e.Held = uint16(m.slot), true
	case m.op == lock.Acquire:
		e.Type, e.Reason = history.Fail, lock.Full
	}
	m.op = lock.NoOp
	return e
}
