package external

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// nameTable is the names of the queues of some locks, as traces have them: without what makes a lock's name
// another one in each run.
type nameTable struct {
	locks   []scenario.Lock
	names   *amqp.Names
	layouts []layout
	roles   amqplock.QueueRoles
	makers  []maker // by queue, of those that the layouts have
	// written are the same queues as a broker has them, of locks with these names: one where two locks' names are written alike.
	written map[string]amqp.Queue
}

// layout is the queues of one lock, by slot; 0 is none. A mutex has slot 1.
type layout struct {
	a, b  [monitor.Slots + 1]amqp.Queue
	admin amqp.Queue
}

// maker is how a queue's name is made.
type maker struct {
	pattern recognise.Pattern
	lock    string
	slot    int
}

// nameTablesKept bounds how many name tables are kept for scenarios to come, and namesKept how many names one has.
const (
	nameTablesKept = 16
	namesKept      = 4096
)

// names is the table for a scenario's locks.
func (s *Runner) names(locks []scenario.Lock) *nameTable {
	sameName := func(a, b scenario.Lock) bool { return a.Name == b.Name }
	s.nameTables = slices.DeleteFunc(s.nameTables, func(b *nameTable) bool { return b.names.Len() > namesKept })
	for _, b := range s.nameTables {
		if slices.EqualFunc(b.locks, locks, sameName) {
			return b
		}
	}
	if len(s.nameTables) == nameTablesKept {
		s.nameTables = s.nameTables[1:]
	}
	b, design := &nameTable{locks: slices.Clone(locks), names: new(amqp.Names), written: make(map[string]amqp.Queue)}, s.designOf(locks)
	for i, l := range locks {
		b.layouts = append(b.layouts, b.layout(&design, s.config.Kind, uint8(i), l.Name))
	}
	s.nameTables = append(s.nameTables, b)
	return b
}

// layout interns the queues of a lock, and notes what they are for.
func (b *nameTable) layout(d *recognise.Design, kind lock.Kind, l uint8, name string) (out layout) {
	note := func(p recognise.Pattern, role backend.Role, slot int) amqp.Queue {
		if !p.Known() || !d.Known() {
			return 0
		}
		q := b.written[p.Queue(name, slot)]
		if q == 0 {
			q = b.names.Intern(p.Shown(name, slot))
			b.written[p.Queue(name, slot)] = q
		}
		b.roles = append(b.roles, make(amqplock.QueueRoles, int(q)+1-min(int(q)+1, len(b.roles)))...)
		b.makers = append(b.makers, make([]maker, len(b.roles)-len(b.makers))...)
		m := &b.roles[q]
		switch {
		case !m.Known:
			*m = amqplock.QueueRole{Lock: l, Slot: uint8(slot), Role: role, Known: true}
			b.makers[q] = maker{p, name, slot}
		case m.Lock != l || m.Role != role:
			m.Collides = true
		}
		return q
	}
	if kind == lock.Mutex {
		out.a[1] = note(d.A, backend.Slot, 1)
		out.b[1] = note(d.B, backend.Mutex, 1)
		return out
	}
	zero := d.Holding == recognise.ByQueue && !(d.Admin.Known() && d.Admin.Queue(name, 0) == d.A.Queue(name, 0)) // there may be a queue 0
	for s := range out.a {
		if s == 1 || s > 0 && d.Single || d.A.Numbered() && (s > 0 || zero) {
			out.a[s] = note(d.A, backend.Slot, s)
			out.b[s] = note(d.B, backend.Holder, s)
		}
	}
	out.admin = note(d.Admin, backend.AdminMutex, 0)
	return out
}

// mean is what a queue is for.
func (b *nameTable) mean(q amqp.Queue) amqplock.QueueRole {
	if int(q) < len(b.roles) {
		return b.roles[q]
	}
	return amqplock.QueueRole{}
}

// realNames are what the queues are called on the broker in one run, in which locks' names begin with some text, and
// which queue is called so.
func (b *nameTable) realNames(here string) (real []string, queues map[string]amqp.Queue) {
	real, queues = make([]string, len(b.makers)), make(map[string]amqp.Queue, len(b.makers))
	for q, m := range b.makers {
		if m.lock != "" {
			real[q] = m.pattern.Queue(here+m.lock, m.slot)
			queues[real[q]] = amqp.Queue(q)
		}
	}
	return real, queues
}

// canonical is a queue's name in traces, without the part of a lock's name that differs from run to run. A name from
// which no owner can be read may differ as well; the order of first use identifies it.
func (r *run) canonical(name string) string {
	if q := r.queues[name]; q != 0 {
		return r.names.names.Name(q)
	}
	switch {
	case name == "" || r.before[name]:
		return name
	case strings.Contains(name, r.here):
		return strings.Replace(name, r.here, "", 1)
	}
	if r.aliases[name] == "" {
		r.aliases[name] = fmt.Sprintf("queue %d", len(r.aliases)+1)
	}
	return r.aliases[name]
}

// ours reports whether a queue is one of this run's locks'.
func (r *run) ours(name string) bool { return r.queues[name] != 0 || strings.Contains(name, r.here) }

// realName is what one of a lock's queues is called on the broker.
func (r *run) realName(q amqp.Queue) string { return r.called[q] }
