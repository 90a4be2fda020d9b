package beliefs

import (
	"math"

	"github.com/lockproof/lockproof/model/history"
)

// A long history has many processes that died, and each of them may still get a late event. The state of such a process
// is packed into a few bytes until its next event.

// resting is the packed state of a process whose connection ended, and that believes it holds nothing.
type resting struct {
	invoked int32
	lock    uint16
	at      place
	flags   uint8 // bit i is the value of the i-th field of seen.flags
}

// flags are the bool fields that are packed, in the order of their bits.
func (s *seen) flags() [6]*bool {
	return [...]*bool{&s.contenders, &s.gone, &s.since, &s.ended, &s.lapsed, &s.released}
}

// packed packs the state. It returns false if the state has something that does not fit.
func (s *seen) packed() (resting, bool) {
	r := resting{invoked: int32(s.invoked), lock: s.lock, at: s.at}
	for bit, flag := range s.flags() {
		if *flag {
			r.flags |= 1 << bit
		}
	}
	simple := s.invoked <= math.MaxInt32 && !s.believing && !s.extending && len(s.others) == 0 && s.fenced == Fenced{} &&
		s.slots == 0 && s.fewest == 0 && s.takes == 0 && s.most == 0
	return r, simple
}

// woken unpacks the state.
func (r resting) woken() *seen {
	s := &seen{invoked: int(r.invoked), lock: r.lock, at: r.at}
	for bit, flag := range s.flags() {
		*flag = r.flags&(1<<bit) != 0
	}
	return s
}

// rest packs the state of a process whose connection has ended, if it has used one lock only. It does nothing if the
// lock's design is unknown, since clients may then outlive their connections.
func (w *Judge) rest(p int32) {
	uses := w.uses[p]
	if w.h.GoneMayFree || w.slots != nil || len(uses) != 1 {
		return
	}
	if r, ok := uses[0].packed(); ok {
		w.resting[p] = r
		delete(w.sessions, session{p, r.lock})
		delete(w.uses, p)
		delete(w.ended, p)
	}
}

// wake unpacks the state of a process, if it is packed.
func (w *Judge) wake(p int32) {
	r, ok := w.resting[p]
	if !ok {
		return
	}
	delete(w.resting, p)
	s := r.woken()
	w.sessions[session{p, r.lock}], w.uses[p], w.ended[p] = s, []*seen{s}, true
}

// about is the process that an event concerns; [history.Nemesis] means all of them.
func about(e *history.Event) int32 {
	if e.Process == history.Nemesis && e.F.Whose() {
		return e.Target
	}
	return e.Process
}
