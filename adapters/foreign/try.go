package foreign

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Before the first run, clients use locks that no run uses. This shows whether the clients' commands arrive at the
// gate, whether slots have numbers, which names of locks the target accepts, and what ends the clients. The result
// decides which operations are called. It excuses no violation.

// The names of the locks that are used before the first run.
const (
	firstTry  = "first-try"
	secondTry = "second-try"
)

// try makes two clients use a lock before the first run, and stores what that shows of the target.
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

// tryBoth makes two clients acquire a lock with two slots, and returns the slots granted. This shows whether slots have
// numbers. If no command arrives at the gate, the error is ErrElsewhere.
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

// needless makes a client release a slot a second time. If the client ends because of that, runs make no such releases.
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

// tryTwo finds out whether a client can hold two locks at once, as it has declared with Several.
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
	if err := a.kill(); err != nil { // afterwards the client may not know what it holds
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

// make makes the setup client create a lock with the given number of slots.
func (s *Runner) make(ctx context.Context, name string, slots int) error {
	if s.config.Kind == lock.Mutex || s.about.Slotless() {
		return nil
	}
	_, err := s.handles[0].do(ctx, lock.Create, Params{Name: name, Slots: slots})
	return err
}

// unmake makes the setup client destroy a lock.
func (s *Runner) unmake(ctx context.Context, name string) error {
	if s.config.Kind == lock.Mutex || !s.supports(lock.Destroy) || s.handles[0].client == nil {
		return nil
	}
	_, err := s.handles[0].do(ctx, lock.Destroy, Params{Name: name})
	return err
}

// nameable renames locks whose names the target refuses, that is, if no client is granted an unused lock of that name.
// If even the first name in Config.Names is refused, the reason is another one, and nothing is renamed.
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

// takes reports whether the target grants an unused lock of the given name. It tries each name only once.
func (s *Runner) takes(name string) bool {
	if taken, known := s.names[name]; known {
		return taken
	}
	s.names[name] = s.tries(s.place(name))
	return s.names[name]
}

func (s *Runner) tries(name string) bool {
	if s.startClients(s.ctx, 0) != nil || s.make(s.ctx, name, 1) != nil { // a new server has no clients yet
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
