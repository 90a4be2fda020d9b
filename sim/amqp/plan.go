package amqp

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// plan has the names, numbers and roles of the queues of a scenario's locks. It depends only on the target and on the
// locks' names.
type plan struct {
	target  *lock.Target
	locks   []string
	names   *amqp.Names
	layouts []*amqplock.Layout
	roles   roles
	broker  *broker.Broker
}

// plansKept is the largest number of plans that a cluster keeps for later scenarios.
const plansKept = 16

// fits reports whether the plan is for this target and for locks with these names.
func (p *plan) fits(target *lock.Target, locks []scenario.Lock) bool {
	return p.target == target &&
		slices.EqualFunc(p.locks, locks, func(name string, l scenario.Lock) bool { return name == l.Name })
}

// newPlan names and numbers the queues of the locks, and assigns their roles.
func newPlan(target *lock.Target, locks []scenario.Lock) *plan {
	p := &plan{target: target, names: new(amqp.Names)}
	var learned amqplock.QueueRoles
	for i, l := range locks {
		layout := amqplock.LayoutOf(target, p.names, l.Name, monitor.Slots)
		p.locks = append(p.locks, l.Name)
		p.layouts = append(p.layouts, layout)
		learned.Learn(uint8(i), target.Kind, layout, p.names)
	}
	p.roles = roles(learned)
	p.broker = broker.New(p.names, broker.Options{})
	return p
}

// settle selects the plan for a scenario, or makes a new one.
func (k *cluster) settle(target *lock.Target, s *scenario.Scenario, o lock.Options) {
	i := slices.IndexFunc(k.plans, func(p *plan) bool { return p.fits(target, s.Locks) })
	if i < 0 {
		if len(k.plans) == plansKept {
			k.plans = k.plans[:0]
		}
		i = len(k.plans)
		k.plans = append(k.plans, newPlan(target, s.Locks))
	}
	k.plan = k.plans[i]
	k.broker.Reset()
	k.target = target
	k.broker.Configure(broker.Options{RoutedAtPublish: k.options.TxRouting == amqplock.AtPublish})
	k.locks = k.locks[:0]
	for _, layout := range k.layouts {
		k.locks = append(k.locks, amqplock.New(target, o, layout))
	}
}

// roles maps the number of a queue to its role in its lock.
type roles amqplock.QueueRoles

// mean stores the role of queue q in exchange x.
func (r roles) mean(q amqp.Queue, x *backend.Exchange) {
	x.Key = uint16(q)
	if m := &r[q]; m.Known {
		x.Role, x.Lock, x.Slot, x.Known, x.Ambiguous = m.Role, m.Lock, m.Slot, true, m.Collides
	}
}

// of returns the set of roles that queue q may have: one, or all if its role is unknown.
func (r roles) of(q amqp.Queue) backend.Roles {
	if int(q) >= len(r) || !r[q].Known {
		return backend.AllRoles
	}
	return 1 << r[q].Role
}
