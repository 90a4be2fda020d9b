package foreign

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
)

// rehearse has the custodian use a lock alone, to learn what its queues are called.
func (s *Stage) rehearse(ctx context.Context) error {
	custodian := s.actors[0]
	rehearsal := s.prefix + "rehearsal"
	declared := make(map[string]bool) // and whether exclusively
	heard := 0
	s.listen(func(c *wire.Command) {
		heard++
		if m, ok := c.Method.(*frame.QueueDeclare); ok && !m.Passive {
			declared[m.Queue] = declared[m.Queue] || m.Exclusive
		}
	})
	defer s.listen(nil)
	slots := 0
	if s.config.Kind != lock.Mutex {
		if !s.supports(lock.Create) {
			return fmt.Errorf("%s does not offer create: there is no way to make a lock to prove", s.target())
		}
		slots = 1
		if s.config.Kind == lock.Semaphore {
			slots = 2
		}
		if _, err := custodian.do(ctx, lock.Create, Params{Name: rehearsal, Slots: slots}); err != nil {
			return err
		}
	}
	r, err := custodian.do(ctx, lock.Acquire, Params{Name: rehearsal})
	if err != nil {
		return err
	}
	if heard == 0 {
		return fmt.Errorf("acquiring %s: %w", rehearsal, ErrElsewhere)
	}
	if s.naming.learn(s.config.Kind, rehearsal, slots, declared, s.exists); r.Held {
		if s.config.Kind != lock.Mutex { // who holds it must be seen as well
			s.naming.known = s.naming.known && s.exists(lock.Names(rehearsal, lock.RoleB, max(1, int(r.Slot))))
		}
		if _, err = custodian.do(ctx, lock.Release, Params{Name: rehearsal, Slot: int(r.Slot)}); err != nil {
			return err
		}
	}
	if slots > 0 && s.supports(lock.Destroy) {
		_, err = custodian.do(ctx, lock.Destroy, Params{Name: rehearsal})
	}
	s.books = nil
	return err
}

// listen has somebody told of the commands that pass while the gate is open.
func (s *Stage) listen(told func(*wire.Command)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = told
}

func (s *Stage) exists(name string) (there bool) {
	s.broker.Look(func(v wire.Sight) { there = v.Exists(name) })
	return there
}

// learn takes the names of the queues that were declared while a lock was made and acquired.
func (n *naming) learn(kind lock.Kind, rehearsal string, slots int, declared map[string]bool, exists func(string) bool) {
	n.known = kind != lock.Mutex
	for slot := 1; slot <= slots; slot++ {
		n.known = n.known && exists(lock.Names(rehearsal, lock.RoleA, slot))
	}
	for name, exclusive := range declared {
		pattern := strings.ReplaceAll(name, rehearsal, lockHere)
		switch {
		case pattern == name || strings.HasSuffix(name, "-A") || strings.HasSuffix(name, "-B"):
		case kind == lock.Mutex && exists(name):
			n.mutex, n.known = one(n.mutex, pattern), true
		case kind != lock.Mutex && exclusive:
			n.admin = one(n.admin, pattern)
		}
	}
}

// one is a pattern where there is one only, whatever the order in which several are met: the first by
// its letters.
func one(a, b string) string {
	if a != "" && a < b {
		return a
	}
	return b
}
