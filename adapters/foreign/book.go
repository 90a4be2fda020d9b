package foreign

import (
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
)

// book is the names of the queues of some locks, as traces have them: without what makes a lock's name
// another one in each run.
type book struct {
	locks   []scenario.Lock
	names   *amqp.Names
	layouts []*lock.Layout
	meaning lock.Meanings
}

// booksKept bounds how many books are kept for scenarios to come, and namesKept how many names one has.
const (
	booksKept = 16
	namesKept = 4096
)

// book is the one for a scenario's locks.
func (s *Stage) book(locks []scenario.Lock) *book {
	sameName := func(a, b scenario.Lock) bool { return a.Name == b.Name }
	s.books = slices.DeleteFunc(s.books, func(b *book) bool { return b.names.Len() > namesKept })
	for _, b := range s.books {
		if slices.EqualFunc(b.locks, locks, sameName) {
			return b
		}
	}
	if len(s.books) == booksKept {
		s.books = s.books[1:]
	}
	b := &book{locks: slices.Clone(locks), names: new(amqp.Names)}
	for i, l := range locks {
		layout := lock.NewLayout(b.names, s.naming.name, l.Name, spec.Slots)
		b.layouts = append(b.layouts, layout)
		b.meaning.Learn(uint8(i), s.config.Kind, layout, b.names)
	}
	s.books = append(s.books, b)
	return b
}

// mean is what a queue is for.
func (b *book) mean(q amqp.Queue) lock.Meaning {
	if int(q) < len(b.meaning) {
		return b.meaning[q]
	}
	return lock.Meaning{}
}

// naming is how the target names its queues. Slots and holders are recognised where they have the
// guidelines' names; what the guidelines leave open is learnt.
type naming struct {
	known bool
	admin string // the administration mutex, with lockHere for the lock's name; "" if there is none
	mutex string // likewise the queue of a true mutex
}

// lockHere stands for a lock's name in a queue's.
const lockHere = "\x00"

// name implements [lock.Naming].
func (n *naming) name(name string, role lock.Role, slot int) string {
	pattern := ""
	switch role {
	case lock.RoleAdmin:
		pattern = n.admin
	case lock.RoleMutex:
		pattern = n.mutex
	}
	if pattern == "" {
		return lock.Names(name, role, slot)
	}
	return strings.ReplaceAll(pattern, lockHere, name)
}
