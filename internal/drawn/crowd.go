package drawn

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Crowd is a long history of many clients at one semaphore, of any length: it is drawn event by event. It is legal.
type Crowd struct {
	Operations, Clients, Slots int
	// Unanswered is the share of operations that get no answer. Who called them dies and is replaced.
	Unanswered float64
	// Evidence says that the history records the ends of their connections, some hundred events later.
	Evidence bool
}

// noticed is after how many events on average the end of a connection is noticed.
const noticed = 200

// member is a client of a crowd.
type member struct {
	process int32
	slot    int // that it holds
	op      lock.Op
	done    bool // the operation under way has had its effect
	result  int
}

// crowd is a crowd while its history is drawn.
type crowd struct {
	Crowd
	choose Seeded
	emit   func(history.Event) error
	all    []member
	holder []int32 // by slot: process
	dying  []int32 // whose connections have not ended
	next   int32
	begun  int // operations
}

// History is the history without its events.
func (d Crowd) History() *history.History {
	return &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{d.Slots}}
}

// Whole is the history with its events.
func (d Crowd) Whole(seed uint64) *history.History {
	h := d.History()
	h.Events = make([]history.Event, 0, 2*d.Operations+d.Operations/10)
	_ = d.Each(seed, func(e history.Event) error { // returns no other error than this does
		h.Events = append(h.Events, e)
		return nil
	})
	return h
}

// Each gives the events of the history to emit, until that returns an error.
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

// step is the next moment: a connection ends, or a client goes on.
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

// bury ends the connection of who died first.
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

// die has a client die, and another one take its place.
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

// effect is what a client's operation does.
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

// answer ends a client's operation.
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
