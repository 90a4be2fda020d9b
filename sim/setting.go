package sim

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim/broker"
)

// setting is what does not change during an execution.
type setting struct {
	target  *lock.Target
	options lock.Options
	kinds   []lock.Implementation // by lock
	*plan
	plans []*plan // those made so far
}

// plan is the queues of a scenario's locks. It depends on the target's naming and the locks' names only.
type plan struct {
	target  *lock.Target
	locks   []string
	names   *amqp.Names
	layouts []*lock.Layout
	meaning []meaning // by queue
	broker  *broker.Broker
}

// meaning is what a queue is for.
type meaning struct {
	lock, slot uint8
	role       lock.Role
	known      bool
	collides   bool // it is another lock's, or has another role, as well
}

// plansKept bounds how many plans a world keeps for scenarios to come.
const plansKept = 16

// fits reports whether the plan serves a scenario.
func (p *plan) fits(target *lock.Target, locks []scenario.Lock) bool {
	return p.target == target &&
		slices.EqualFunc(p.locks, locks, func(name string, l scenario.Lock) bool { return name == l.Name })
}

// newPlan names and numbers the queues.
func newPlan(target *lock.Target, locks []scenario.Lock) *plan {
	p := &plan{target: target, names: new(amqp.Names)}
	for i, l := range locks {
		layout := target.Layout(p.names, l.Name, spec.Slots)
		p.locks = append(p.locks, l.Name)
		p.layouts = append(p.layouts, layout)
		p.learn(uint8(i), layout)
	}
	p.broker = broker.New(p.names, broker.Options{})
	return p
}

// learn notes what a lock's queues are for.
func (p *plan) learn(l uint8, layout *lock.Layout) {
	p.meaning = append(p.meaning, make([]meaning, p.names.Len()+1-len(p.meaning))...)
	note := func(q amqp.Queue, role lock.Role, slot int) {
		m := &p.meaning[q]
		if m.known {
			m.collides = true
			return
		}
		*m = meaning{lock: l, slot: uint8(slot), role: role, known: true}
	}
	if p.target.Kind == lock.Mutex {
		note(layout.Mutex, lock.RoleMutex, 1)
		return
	}
	for s := 0; s <= layout.Slots; s++ {
		note(layout.A[s], lock.RoleA, s)
		note(layout.B[s], lock.RoleB, s)
	}
	note(layout.Admin, lock.RoleAdmin, 0)
}

// settle makes the setting that of a scenario.
func (s *setting) settle(target *lock.Target, sc *scenario.Scenario) {
	i := slices.IndexFunc(s.plans, func(p *plan) bool { return p.fits(target, sc.Locks) })
	if i < 0 {
		if len(s.plans) == plansKept {
			s.plans = s.plans[:0]
		}
		i = len(s.plans)
		s.plans = append(s.plans, newPlan(target, sc.Locks))
	}
	s.plan = s.plans[i]
	s.broker.Reset()
	s.target, s.options = target, target.Settled(sc.Options)
	s.kinds = s.kinds[:0]
	for _, layout := range s.layouts {
		s.kinds = append(s.kinds, target.New(sc.Options, layout))
	}
}
