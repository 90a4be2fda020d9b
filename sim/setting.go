package sim

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
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
	meaning lock.QueueRoles
	broker  *broker.Broker
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
		layout := target.Layout(p.names, l.Name, monitor.Slots)
		p.locks = append(p.locks, l.Name)
		p.layouts = append(p.layouts, layout)
		p.meaning.Learn(uint8(i), target.Kind, layout, p.names)
	}
	p.broker = broker.New(p.names, broker.Options{})
	return p
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
	s.broker.Configure(broker.Options{RoutedAtPublish: s.options.TxRouting == lock.AtPublish})
	s.kinds = s.kinds[:0]
	for _, layout := range s.layouts {
		s.kinds = append(s.kinds, target.New(sc.Options, layout))
	}
}
