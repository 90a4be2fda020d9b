package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/lock"
)

// The names of the locks that are used before a run. They are written as those of runs are, of which the first is as short as
// any and the second longer, so that a library that replaces some characters, or shortens long names, does so here as well.
// They have nothing else in common.
const (
	firstProbe  = "r000000.Test"
	secondProbe = "r999999.Another-one"
)

// probe has the setup client use a lock alone, to learn by what it can be told what the broker has of it.
// p has heard of what the setup client has done so far.
func (s *Runner) probe(ctx context.Context, p *recognise.Probe) error {
	setup := s.handles[0]
	defer s.listen(nil)
	if s.config.Kind != lock.Mutex && !s.supports(lock.Create) && !s.about.Slotless() {
		return fmt.Errorf("%s does not offer create: there is no way to make a lock to prove", s.target())
	}
	name := recognise.Telling(s.prefix + firstProbe)
	s.probed = name
	if err := s.make(ctx, name, p); err != nil {
		return err
	}
	hold, err := s.hold(ctx, setup, name, p)
	if err == nil {
		err = s.letGo(ctx, setup, hold, p)
	}
	s.listen(nil)
	if err == nil && p.Heard == 0 {
		return fmt.Errorf("acquiring %s: %w", name, ErrElsewhere)
	}
	if err == nil {
		err = s.unmake(ctx, name)
	}
	return err
}

// probeAgain has two clients use another lock, and learns from that and what p has seen before.
func (s *Runner) probeAgain(ctx context.Context, p *recognise.Probe) error {
	name := s.prefix + secondProbe
	s.listen(p.Hear)
	defer s.listen(nil)
	users := []*clientHandle{s.handles[1]}
	if s.config.Kind == lock.Semaphore {
		users = []*clientHandle{s.handles[0], s.handles[1]}
	}
	if err := s.make(ctx, name, p); err != nil {
		return err
	}
	var holds []*recognise.Use // by user
	for _, a := range users {
		h, err := s.hold(ctx, a, name, p)
		if err != nil {
			return err
		}
		holds = append(holds, h)
	}
	for i, h := range slices.Backward(holds) {
		if err := s.letGo(ctx, users[i], h, p); err != nil {
			return err
		}
	}
	again, err := s.holdAgain(ctx, users[0], holds[0])
	if err != nil {
		return err
	}
	first := s.asides == nil
	if first {
		if err := s.needless(ctx, name, users[0], holds[0]); err != nil {
			return err
		}
	}
	s.listen(nil)
	s.expires = time.Duration(p.Expires) * time.Millisecond
	s.design = p.Design(s.config.Kind, s.config.Naming)
	if s.design.Known() && again.Granted && !s.design.Shown(again) {
		s.design.Holding, s.design.Why = recognise.Unknown, "its queues are called otherwise when it is acquired again"
	}
	if d := s.broker.disagreement(); d != "" {
		s.design.Holding, s.design.Why = recognise.Unknown, "the real broker did something else than the simulated one: "+d
	}
	if s.about.Slotless() {
		s.design.Holding, s.design.Why = recognise.Unknown, noSlots
	}
	s.nameTables = nil
	if err := s.lessens(ctx, name); err != nil {
		return err
	}
	s.crowds = len(p.Common([]string{name, s.probed, s.warming(0), s.warming(1)})) > 0
	if err := s.unmake(ctx, name); err != nil || !first {
		return err
	}
	if !s.About().Several {
		return nil
	}
	return s.probeTwo(ctx)
}

// holdAgain has a client use again what it has used, and says how: queues may be called by what is counted meanwhile.
func (s *Runner) holdAgain(ctx context.Context, a *clientHandle, before *recognise.Use) (*recognise.Use, error) {
	apart := recognise.NewProbe() // what is seen of the lock now is no lock that nobody has used
	u, err := s.hold(ctx, a, before.Lock, apart)
	if err == nil {
		err = s.letGo(ctx, a, u, apart)
	}
	return u, err
}

// lessens finds out whether a slot less is a message less, where slots are counted by messages, or a queue less, where each has its
// own: a library may as well keep account elsewhere of how many of them count.
func (s *Runner) lessens(ctx context.Context, name string) error {
	if s.config.Kind != lock.Semaphore || !s.design.Channels() || !s.supports(lock.Remove) {
		return nil
	}
	before := s.snapshot()
	r, err := s.handles[0].do(ctx, lock.Remove, Params{Name: name, Slots: 1})
	if err != nil || r.Outcome != lock.Done {
		return err
	}
	after := s.snapshot()
	if why := s.remains(name, before, after); why != "" {
		s.design.Holding, s.design.Alike, s.design.Why = recognise.Unknown, s.design.Alike || s.design.Permits(), why
	}
	return nil
}

// remains says how it shows, by what the broker has before and after one slot of a lock was removed, that slots are not what they
// were taken for; "" where it does not.
func (s *Runner) remains(name string, before, after recognise.Snapshot) string {
	if s.design.Permits() {
		queue := s.design.A.Queue(name, 1)
		if taken := before.Messages(queue) - after.Messages(queue); taken != 1 {
			return fmt.Sprintf("slots are messages of the queue %s, but remove of one took %d away", s.design.A.Text, taken)
		}
		return ""
	}
	gone := before.Without(after)
	if s.design.Single || len(gone) == 0 {
		return ""
	}
	for slot := range lock.MaxSlots {
		if slices.Contains(gone, s.design.A.Queue(name, slot+1)) {
			return ""
		}
	}
	return fmt.Sprintf("each slot is held by the queue %s, but remove of one leaves it there and deletes %s", s.design.A.Text, gone[0])
}

// The names of the locks that one client is to hold at once.
var twoProbes = [2]string{"this", "that"}

// probeTwo finds out whether a client that says that it can hold two locks at once is granted two. Whether it knows of both then
// is judged, like all else.
func (s *Runner) probeTwo(ctx context.Context) (err error) {
	a := s.handles[1]
	a.dirty = true
	var slots [2]int
	each := func(op lock.Op, then func(i int, r lock.Result)) {
		for i, name := range twoProbes {
			if err != nil || op == lock.Release && slots[i] == 0 {
				continue
			}
			var r lock.Result
			if r, err = a.do(ctx, op, Params{Name: s.prefix + name, Slot: slots[i]}); err == nil {
				then(i, r)
			}
		}
	}
	for _, name := range twoProbes {
		if err := s.make(ctx, s.prefix+name, new(recognise.Probe)); err != nil {
			return err
		}
	}
	each(lock.Acquire, func(i int, r lock.Result) {
		if r.Held {
			slots[i] = max(1, int(r.Slot))
		}
	})
	s.holdsTwo = slots[0] > 0 && slots[1] > 0 && err == nil
	each(lock.Release, func(int, lock.Result) {})
	if err == nil && slots[0]+slots[1] > 0 || errors.Is(err, ErrDied) { // it may have lost track of what it has
		if err = a.kill(); err == nil {
			err = a.ready(ctx)
		}
	}
	for _, name := range twoProbes {
		if err == nil {
			err = s.unmake(ctx, s.prefix+name)
		}
	}
	return err
}

// needless has clients do what changes nothing: release what they have released already, and create what is there. Who
// ends by itself then is not asked for the like again.
func (s *Runner) needless(ctx context.Context, name string, user *clientHandle, h *recognise.Use) (err error) {
	s.listen(nil)
	s.asides = []string{}
	if h.Granted {
		s.fragile, err = s.aside(ctx, user, "a release of what is not held", lock.Release, Params{Name: name, Slot: h.Slot})
	}
	if err == nil && s.config.Kind != lock.Mutex && !s.about.Slotless() {
		_, err = s.aside(ctx, s.handles[0], "create of what is there", lock.Create, Params{Name: name, Slots: 1})
		if err == nil {
			err = s.createMore(ctx, name)
		}
	}
	return err
}

// createMore finds out whether create makes up for what is missing of a lock that is there, and has so many slots. Libraries
// may as well leave such a lock as it is.
func (s *Runner) createMore(ctx context.Context, name string) error {
	if s.config.Kind != lock.Semaphore {
		return nil
	}
	before := s.snapshot().Size()
	if _, err := s.aside(ctx, s.handles[0], "create of more than is there", lock.Create, Params{Name: name, Slots: slotsOfProbes + 1}); err != nil {
		return err
	}
	s.leaves = s.snapshot().Size() <= before
	if s.supports(lock.Count) {
		counted, err := s.handles[0].do(ctx, lock.Count, Params{Name: name})
		if err != nil {
			return err
		}
		if counted.Outcome == lock.Done {
			s.leaves = counted.Slots <= slotsOfProbes
		}
	}
	if s.leaves {
		s.asides[len(s.asides)-1] += " and adds none that are seen, so that a lock is not created that may be there"
	}
	return nil
}

// slotsOfProbes is how many slots a semaphore has that is used before a run.
const slotsOfProbes = 2

// aside has a client carry out an operation with no expected result, and notes the result.
func (s *Runner) aside(ctx context.Context, a *clientHandle, what string, op lock.Op, params Params) (died bool, err error) {
	a.dirty = true
	r, err := a.do(ctx, op, params)
	came := "is answered ok"
	switch {
	case errors.Is(err, ErrDied):
		came = "ends the client, which is not asked for that again"
		if err = a.kill(); err == nil {
			err = a.ready(ctx)
		}
		died = true
	case err != nil:
		return false, err
	case r.Outcome != lock.Done:
		came = "is answered by an error"
	}
	s.asides = append(s.asides, what+" "+came)
	return died, err
}

// Asides say how the target answers operations that change nothing: a release of what is not held, a create of what exists.
func (s *Runner) Asides() []string { return s.asides }

// make makes a lock to be used, where locks are made.
func (s *Runner) make(ctx context.Context, name string, p *recognise.Probe) error {
	slots := 1
	switch {
	case s.config.Kind == lock.Mutex, s.about.Slotless():
		return nil
	case s.config.Kind == lock.Semaphore:
		slots = slotsOfProbes
	}
	before := s.snapshot()
	if _, err := s.handles[0].do(ctx, lock.Create, Params{Name: name, Slots: slots}); err != nil {
		return err
	}
	p.Made = append(p.Made, recognise.Creation{Lock: name, Slots: slots, Before: before, After: s.snapshot()})
	return nil
}

// unmake destroys a lock that was made.
func (s *Runner) unmake(ctx context.Context, name string) error {
	if s.config.Kind == lock.Mutex || !s.supports(lock.Destroy) {
		return nil
	}
	_, err := s.handles[0].do(ctx, lock.Destroy, Params{Name: name})
	return err
}

// hold has a client acquire a lock, and looks at what the broker has then.
func (s *Runner) hold(ctx context.Context, a *clientHandle, name string, p *recognise.Probe) (*recognise.Use, error) {
	u := &recognise.Use{Lock: name, Before: s.snapshot()}
	defer s.using(p)()
	r, err := a.do(ctx, lock.Acquire, Params{Name: name, Limit: limitOfProbes})
	if err != nil {
		return nil, err
	}
	u.Granted, u.Slot, u.During = r.Held, max(1, int(r.Slot)), s.snapshot()
	p.Uses = append(p.Uses, u)
	return u, nil
}

// using tells a probe that a lock is used until it is over. Some clients send something at any time.
func (s *Runner) using(p *recognise.Probe) (over func()) {
	set := func(so bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		p.Using = so
	}
	set(true)
	return func() { set(false) }
}

// letGo has a client verify what it holds and release it, and looks at what the broker has then. What ends by that may
// be on its way.
func (s *Runner) letGo(ctx context.Context, a *clientHandle, u *recognise.Use, p *recognise.Probe) error {
	if !u.Granted {
		return nil
	}
	params := Params{Name: u.Lock, Slot: u.Slot}
	defer s.using(p)()
	if s.supports(lock.Verify) {
		if _, err := a.do(ctx, lock.Verify, params); err != nil {
			return err
		}
	}
	if _, err := a.do(ctx, lock.Release, params); err != nil {
		return err
	}
	for deadline := time.Now().Add(lastLimit); ; time.Sleep(time.Millisecond) {
		if u.After = s.snapshot(); !u.Lasts() || time.Now().After(deadline) {
			return nil
		}
	}
}

// lastLimit is how long what stands for a hold may outlast its release.
const lastLimit = 100 * time.Millisecond

// snapshot looks at the broker.
func (s *Runner) snapshot() recognise.Snapshot {
	out := make(recognise.Snapshot)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broker.Observe(func(v wire.State) {
		for name := range v.Queues() {
			out.Add(v, name)
		}
	})
	return out
}

// listen has somebody told of the commands that pass while the gate is open.
func (s *Runner) listen(told func(*wire.Command)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onCommands = told
}

// onCommand has a probe hear of all commands from now on.
func (s *Runner) onCommand() *recognise.Probe {
	p := recognise.NewProbe()
	s.listen(p.Hear)
	return p
}
