package external

import (
	"maps"
	"sync"
	"time"
)

// Learnt is what runners have learnt of one target's clients: what they do that nobody tells them to, and where they were
// waited for in vain. Runners that share it wait for each of that once, together. It is safe for concurrent use.
//
// Within one execution nothing changes but by what the execution itself shows, so that what came of chance in it is counted:
// what others have learnt is taken in between two of them.
type Learnt struct {
	mu      sync.Mutex
	habits  map[cause]habit
	rests   map[rest]bool
	lulls   map[rest]bool
	hung    map[rest]bool // where they wait for ever, and where they end by themselves long after
	resign  map[rest]*resign
	fates   map[string]fate // of the kinds of names of locks; nil is not looked at
	renewal renewal
	revival revival
	vain    map[bool]int // behind how many commands a client was waited for that did not give up, by whether it was told for how long to wait
}

// NewLearnt is to be filled.
func NewLearnt() *Learnt {
	return &Learnt{habits: make(map[cause]habit), rests: make(map[rest]bool), lulls: make(map[rest]bool), hung: make(map[rest]bool), resign: make(map[rest]*resign), vain: make(map[bool]int)}
}

// exchange gives what the runner has learnt to the others, and takes what they have.
func (s *Runner) exchange() {
	l := s.config.Learnt
	l.mu.Lock()
	defer l.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for of, h := range s.habits {
		if o := l.habits[of]; *h != s.common[of] && !o.beyond(h) {
			h.looks, h.slowest = max(h.looks, o.looks), max(h.slowest, o.slowest)
			l.habits[of] = *h
		}
	}
	for of, h := range l.habits {
		*s.habit(of), s.common[of] = h, h
	}
	for _, both := range [][2]map[rest]bool{{s.rests, l.rests}, {s.lulls, l.lulls}, {s.hung, l.hung}} {
		maps.Copy(both[1], both[0])
		maps.Copy(both[0], both[1])
	}
}

// beyond reports whether clients were seen to do more than another knows of.
func (h habit) beyond(o *habit) bool {
	if h.given != o.given {
		return h.given > o.given
	}
	return h.total > o.total
}

// patience is how long a client is waited for that may give up waiting for a reply; 0 is not at all.
func (l *Learnt) patience(at rest) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.resign[at]
	if known == nil {
		known = new(resign)
		l.resign[at] = known
	}
	if known.after == 0 && l.vain[at.told] >= mostLooks {
		return 0
	}
	return known.limit()
}

// gaveUp takes in whether a client gave up, and after how long.
func (l *Learnt) gaveUp(at rest, did bool, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.resign[at]
	if did {
		known.after, known.looks = max(known.after, after), 0
		return
	}
	if known.looks++; known.looks == 1 { // more than one may have looked at once
		l.vain[at.told]++
	}
}
