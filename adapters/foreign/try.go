package foreign

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Before the first run, clients use locks that no run has. The runner looks whether they come to the gate at all, whether
// slots have numbers, which names of locks they take, and what ends them. The result decides what they are asked for, and
// excuses nothing.

// The names of those locks.
const (
	firstTry  = "first-try"
	secondTry = "second-try"
)

// try has two clients use locks.
func (s *Runner) try(ctx context.Context) error {
	s.names = make(map[string]bool)
	if s.config.Kind != lock.Mutex && !s.supports(lock.Create) && !s.about.Slotless() {
		return fmt.Errorf("%s does not offer create: there is no way to make a lock to prove", s.target())
	}
	name := s.prefix + firstTry
	if err := s.make(ctx, name, 2); err != nil {
		return err
	}
	slots, err := s.tryBoth(ctx, name)
	if err != nil {
		return err
	}
	for i, slot := range slots {
		if _, err := s.handles[i].do(ctx, lock.Release, Params{Name: name, Slot: int(slot)}); err != nil {
			return err
		}
	}
	if err := s.needless(ctx, name, slots); err != nil {
		return err
	}
	if err := s.unmake(ctx, name); err != nil {
		return err
	}
	if s.about.Several {
		return s.tryTwo(ctx)
	}
	return nil
}

// tryBoth has two clients acquire a lock of two slots, and returns the slots that they were granted. These show whether
// slots have numbers, and whether the clients use this broker at all.
func (s *Runner) tryBoth(ctx context.Context, name string) (slots []uint8, err error) {
	heard := 0
	s.listen(func(gate.Command) { heard++ })
	defer s.listen(nil)
	for _, a := range s.handles[:2] {
		r, err := a.do(ctx, lock.Acquire, Params{Name: name, Limit: 2})
		if err != nil {
			return nil, err
		}
		if r.Held {
			slots = append(slots, max(1, r.Slot))
		}
		s.alike = s.config.Kind == lock.Semaphore && (r.Held && r.Slot == 0 || s.about.Slotless())
	}
	if heard == 0 {
		return nil, fmt.Errorf("acquiring %s: %w", name, ErrElsewhere)
	}
	s.alike = s.alike || len(slots) == 2 && slots[0] == slots[1] && s.config.Kind == lock.Semaphore
	return slots, nil
}

// needless has a client release what it has released already. One that ends by itself then is not asked for the like again.
func (s *Runner) needless(ctx context.Context, name string, slots []uint8) error {
	if len(slots) == 0 {
		return nil
	}
	a := s.handles[0]
	_, err := a.do(ctx, lock.Release, Params{Name: name, Slot: int(slots[0])})
	if !died(err) {
		return err
	}
	s.fragile, s.fallen = true, err
	if err := a.kill(); err != nil {
		return err
	}
	return a.ready(ctx)
}

// tryTwo finds out whether a client that says that it can hold two locks at once is granted two.
func (s *Runner) tryTwo(ctx context.Context) error {
	a := s.handles[1]
	a.dirty = true
	names := []string{s.prefix + firstTry, s.prefix + secondTry}
	granted := 0
	for _, name := range names {
		if err := s.make(ctx, name, 1); err != nil {
			return err
		}
		r, err := a.do(ctx, lock.Acquire, Params{Name: name})
		if err != nil {
			return err
		}
		if r.Held {
			granted++
		}
	}
	s.holdsTwo = granted == 2
	if err := a.kill(); err != nil { // it may have lost track of what it has
		return err
	}
	if err := a.ready(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if err := s.unmake(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// make has the setup client make a lock.
func (s *Runner) make(ctx context.Context, name string, slots int) error {
	if s.config.Kind == lock.Mutex || s.about.Slotless() {
		return nil
	}
	_, err := s.handles[0].do(ctx, lock.Create, Params{Name: name, Slots: slots})
	return err
}

// unmake has it destroy one.
func (s *Runner) unmake(ctx context.Context, name string) error {
	if s.config.Kind == lock.Mutex || !s.supports(lock.Destroy) || s.handles[0].client == nil {
		return nil
	}
	_, err := s.handles[0].do(ctx, lock.Destroy, Params{Name: name})
	return err
}

// nameable gives locks other names than those that the target refuses: where none is granted that nobody uses. A target that
// refuses the first name there is does so for no name's sake.
func (s *Runner) nameable(locks []scenario.Lock) []scenario.Lock {
	if len(s.config.Names) == 0 || !s.takes(s.config.Names[0]) {
		return locks
	}
	locks = slices.Clone(locks)
	for i := range locks {
		if s.takes(locks[i].Name) {
			continue
		}
		for _, name := range s.config.Names {
			used := slices.ContainsFunc(locks, func(l scenario.Lock) bool { return l.Name == name })
			if !used && s.takes(name) {
				locks[i].Name = name
				break
			}
		}
	}
	return locks
}

// takes reports whether the target grants a lock of a name that nobody uses. It is tried once.
func (s *Runner) takes(name string) bool {
	if taken, known := s.names[name]; known {
		return taken
	}
	s.names[name] = s.tries(s.place(name))
	return s.names[name]
}

func (s *Runner) tries(name string) bool {
	if s.startClients(s.ctx, 0) != nil || s.make(s.ctx, name, 1) != nil { // after a broker was replaced there are none
		return false
	}
	a := s.handles[0]
	r, err := a.do(s.ctx, lock.Acquire, Params{Name: name})
	if err == nil && r.Held {
		_, err = a.do(s.ctx, lock.Release, Params{Name: name, Slot: int(max(1, r.Slot))})
	}
	if err == nil {
		err = s.unmake(s.ctx, name)
	}
	if err != nil {
		_ = a.kill()
	}
	return err == nil && r.Held
}
