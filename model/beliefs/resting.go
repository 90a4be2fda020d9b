package beliefs

import (
	"math"

	"github.com/lockproof/lockproof/model/history"
)

// A long history has many processes that died, and any of them may still be told something late. What is known of such
// a process is kept in a few bytes, until it is needed again.

// resting is a session of a process whose connection ended and that believes nothing.
type resting struct {
	invoked int32
	lock    uint16
	at      place
	flags   uint8 // of seen.flags
}

// flags are a session's fields that are flags, in the order of their bits.
func (s *seen) flags() [6]*bool {
	return [...]*bool{&s.contenders, &s.gone, &s.since, &s.ended, &s.lapsed, &s.released}
}

// packed is a session that can rest. One that knows more than fits cannot.
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

// woken is the session that rested.
func (r resting) woken() *seen {
	s := &seen{invoked: int(r.invoked), lock: r.lock, at: r.at}
	for bit, flag := range s.flags() {
		*flag = r.flags&(1<<bit) != 0
	}
	return s
}

// rest lets a process rest whose connection has ended, if it has one session. Where the design of the lock is not known,
// the end of a connection may mean nothing.
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

// wake has what is known of a process at hand again.
func (w *Judge) wake(p int32) {
	r, ok := w.resting[p]
	if !ok {
		return
	}
	delete(w.resting, p)
	s := r.woken()
	w.sessions[session{p, r.lock}], w.uses[p], w.ended[p] = s, []*seen{s}, true
}

// about is the process that an event is about, or [history.Nemesis] for all.
func about(e *history.Event) int32 {
	if e.Process == history.Nemesis && e.F.Whose() {
		return e.Target
	}
	return e.Process
}
