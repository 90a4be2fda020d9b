package external

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// names is the names of the queues of some locks, as traces have them: without what makes a lock's name
// another one in each run.
type nameTable struct {
	locks   []scenario.Lock
	names   *amqp.Names
	layouts []*lock.Layout
	meaning lock.QueueRoles
	// into is where a lock's name begins in a queue's; what is not in it, has it in front.
	into map[amqp.Queue]int
}

// booksKept bounds how many books are kept for scenarios to come, and namesKept how many names one has.
const (
	nameTablesKept = 16
	namesKept      = 4096
)

// names is the one for a scenario's locks.
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
	b := &nameTable{locks: slices.Clone(locks), names: new(amqp.Names), into: make(map[amqp.Queue]int)}
	for i, l := range locks {
		layout := lock.NewLayout(b.names, s.pattern.name, l.Name, monitor.Slots)
		b.layouts = append(b.layouts, layout)
		b.into[layout.Admin] = max(0, strings.Index(s.pattern.admin, lockHere))
		b.into[layout.Mutex] = max(0, strings.Index(s.pattern.mutex, lockHere))
		b.meaning.Learn(uint8(i), s.config.Kind, layout, b.names)
	}
	s.nameTables = append(s.nameTables, b)
	return b
}

// mean is what a queue is for.
func (b *nameTable) mean(q amqp.Queue) lock.QueueRole {
	if int(q) < len(b.meaning) {
		return b.meaning[q]
	}
	return lock.QueueRole{}
}

// canonical is what a queue is called in traces: without what makes a lock's name another one in each run. A
// name that does not tell whose queue it is may be another one in each run, too; it is told by when it was first
// used.
func (r *run) canonical(name string) string {
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

// realName is what one of a lock's queues is called on the broker.
func (r *run) realName(q amqp.Queue) string {
	name, i := r.names.names.Name(q), r.names.into[q]
	return name[:i] + r.here + name[i:]
}

// namePattern is how the target names its queues. Slots and holders are recognised where they have the
// guidelines' names; what the guidelines leave open is learnt.
type namePattern struct {
	known bool
	why   string // it is not
	used  string // the methods that clients use beside those of a minimal driver, "" where they use none
	admin string // the administration mutex, with lockHere for the lock's name; "" if there is none
	mutex string // likewise the queue of a true mutex
}

// lockHere stands for a lock's name in a queue's.
const lockHere = "\x00"

// name implements [lock.Naming].
func (n *namePattern) name(name string, role backend.Role, slot int) string {
	pattern := ""
	switch role {
	case backend.AdminMutex:
		pattern = n.admin
	case backend.Mutex:
		pattern = n.mutex
	}
	if pattern == "" {
		return lock.Names(name, role, slot)
	}
	return strings.ReplaceAll(pattern, lockHere, name)
}
