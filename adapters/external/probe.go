package external

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
)

// probe has the setup client use a lock alone, to learn by which queues it can be told what the broker has of it.
// p has heard of what the setup client has done so far.
func (s *Runner) probe(ctx context.Context, p *probe) error {
	setup := s.handles[0]
	name := s.prefix + "rehearsal"
	slots := 0
	defer s.listen(nil)
	if s.config.Kind != lock.Mutex {
		if !s.supports(lock.Create) {
			return fmt.Errorf("%s does not offer create: there is no way to make a lock to prove", s.target())
		}
		slots = 1
		if s.config.Kind == lock.Semaphore {
			slots = 2
		}
		if _, err := setup.do(ctx, lock.Create, Params{Name: name, Slots: slots}); err != nil {
			return err
		}
	}
	err := s.use(ctx, setup, name, p)
	if err != nil {
		return err
	}
	if p.heard == 0 {
		return fmt.Errorf("acquiring %s: %w", name, ErrElsewhere)
	}
	if s.pattern = p.mutex(); slots > 0 {
		s.pattern = p.slotted(name, slots)
	}
	if d := s.broker.disagreement(); d != "" {
		s.pattern.known, s.pattern.why = false, "the real broker did something else than the simulated one: "+d
	}
	if slots > 0 && s.supports(lock.Destroy) {
		_, err = setup.do(ctx, lock.Destroy, Params{Name: name})
	}
	s.nameTables = nil
	return err
}

// probeAgain has another client use another mutex: it is known by a queue if that has the same name for all.
func (s *Runner) probeAgain(ctx context.Context) error {
	if s.config.Kind != lock.Mutex || !s.pattern.known {
		return nil
	}
	p := s.onCommand()
	defer s.listen(nil)
	if err := s.use(ctx, s.handles[1], s.prefix+"second", p); err != nil {
		return err
	}
	again := p.mutex()
	if again.known && again.mutex != s.pattern.mutex {
		again.known, again.why = false, "its exclusive queue has another name for each client"
	}
	again.used = cmp.Or(s.pattern.used, again.used)
	s.pattern, s.nameTables = again, nil
	return nil
}

// use has a client acquire a lock, verify it and release it, and looks at what the broker has meanwhile. Afterwards nobody
// listens any more.
func (s *Runner) use(ctx context.Context, a *clientHandle, name string, p *probe) error {
	r, err := a.do(ctx, lock.Acquire, Params{Name: name})
	if err != nil {
		return err
	}
	p.granted = r.Held
	s.examine(func(v wire.Sight) {
		for slot := range p.slots {
			p.slots[slot] = v.Exists(lock.Names(name, backend.Slot, slot+1))
		}
		p.holder = !r.Held || v.Exists(lock.Names(name, backend.Holder, max(1, int(r.Slot))))
		for q, exclusive := range p.exclusive {
			if exclusive && strings.Contains(q, name) && v.Owner(q) != nil {
				p.owned = append(p.owned, q)
			}
		}
	})
	if r.Held && s.supports(lock.Verify) {
		if _, err = a.do(ctx, lock.Verify, Params{Name: name, Slot: int(r.Slot)}); err != nil {
			return err
		}
	}
	if r.Held {
		if _, err = a.do(ctx, lock.Release, Params{Name: name, Slot: int(r.Slot)}); err != nil {
			return err
		}
	}
	s.listen(nil)
	s.lasting(p.owned)
	s.examine(func(v wire.Sight) {
		for _, q := range p.owned {
			if v.Exists(q) {
				p.stays = append(p.stays, q)
			} else {
				p.holders = append(p.holders, strings.ReplaceAll(q, name, lockHere))
			}
		}
	})
	return nil
}

// lasting waits a while for queues to go whose end is on its way.
func (s *Runner) lasting(queues []string) {
	for deadline := time.Now().Add(lastLimit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		there := false
		s.examine(func(v wire.Sight) { there = slices.ContainsFunc(queues, v.Exists) })
		if !there {
			return
		}
	}
}

// lastLimit is how long queues may outlast the release of what they stand for.
const lastLimit = 100 * time.Millisecond

// examine looks at the broker.
func (s *Runner) examine(look func(wire.Sight)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broker.Look(look)
}

// listen has somebody told of the commands that pass while the gate is open.
func (s *Runner) listen(told func(*wire.Command)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onCommands = told
}

// probe is what one use of a lock showed.
type probe struct {
	heard     int
	exclusive map[string]bool // the queues declared, and whether exclusively
	last      string          // the queue that was declared last
	methods   []string        // those beside what a minimal driver has, as they were first met
	takes     string          // the method by which a message was taken from a queue that is not exclusive

	granted bool
	slots   [2]bool  // whether slots exist by the guidelines' names, while the lock is held
	holder  bool     // likewise whether the holder's queue does
	owned   []string // queues with the lock's name that are somebody's exclusively, while it is held
	stays   []string // those among them that are there after its release
	holders []string // the patterns of those that are gone
}

// onCommand has a probe hear of all commands from now on.
func (s *Runner) onCommand() *probe {
	p := &probe{exclusive: make(map[string]bool)}
	s.listen(p.hear)
	return p
}

// hear notes a command.
func (p *probe) hear(c *wire.Command) {
	p.heard++
	m := c.Model(func(string) amqp.Queue { return 0 }).Method
	if id := c.Method.ID().String(); !m.Minimal() && !slices.Contains(p.methods, id) {
		p.methods = append(p.methods, id)
	}
	switch m := c.Method.(type) {
	case *frame.QueueDeclare:
		if !m.Passive {
			p.exclusive[m.Queue] = p.exclusive[m.Queue] || m.Exclusive
			p.last = m.Queue
		}
	case *frame.BasicGet:
		p.take(m.Queue, "basic.get")
	case *frame.BasicConsume:
		p.take(m.Queue, "basic.consume")
	}
}

// take notes that messages are taken from a queue; "" is the one declared last.
func (p *probe) take(queue, how string) {
	if queue == "" {
		queue = p.last
	}
	if p.takes == "" && !p.exclusive[queue] && !strings.HasPrefix(queue, "amq.") {
		p.takes = how
	}
}

// mutex is how a mutex is known: by a queue that is its holder's exclusively and gone once it is released. Where
// messages are taken from a queue that others share, they may be what holds the lock.
func (p *probe) mutex() namePattern {
	n := namePattern{used: strings.Join(p.methods, ", ")}
	switch {
	case !p.granted:
		n.why = "a mutex that nobody held was not acquired"
	case p.takes != "":
		n.why = "it takes messages from a queue that is not exclusive, by " + p.takes
	case len(p.holders) == 1:
		n.known, n.mutex = true, p.holders[0]
	case len(p.holders) > 1:
		n.why = "several exclusive queues come with acquiring it and go with releasing it"
	case len(p.stays) > 0:
		n.why = "the exclusive queue that comes with acquiring it stays when it is released"
	default:
		n.why = "acquiring it declares no exclusive queue that has its name and lasts until it is released"
	}
	return n
}

// slotted is how a lock with slots is known: by the guidelines' names.
func (p *probe) slotted(name string, slots int) namePattern {
	n := namePattern{used: strings.Join(p.methods, ", "), why: "queue names do not follow the guidelines' naming"}
	n.known = p.holder && !slices.Contains(p.slots[:slots], false)
	for q, exclusive := range p.exclusive {
		pattern := strings.ReplaceAll(q, name, lockHere)
		if exclusive && pattern != q && !strings.HasSuffix(q, "-A") && !strings.HasSuffix(q, "-B") {
			n.admin = one(n.admin, pattern)
		}
	}
	return n
}

// one is a pattern where there is one only, whatever the order in which several are met: the first by
// its letters.
func one(a, b string) string {
	if a != "" && a < b {
		return a
	}
	return b
}
