package stream

import (
	"cmp"
	"fmt"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/scenario"
)

// Lone is a single server that a client may take for a cluster, and whose items have no amounts. Plug-ins embed it.
type Lone struct {
	gate.Private
	*Proxy
	scheme string // URL scheme of the server's addresses
	item   string // word for an item, such as key
	items  func() []gate.Item
	before map[string]bool // items that existed before the run
	err    error           // the first error that was recorded
}

// ErrSeveral returns an error if servers is not 1. A lock on several servers of this kind would need items on each of
// them; no such lock is known.
func ErrSeveral(kind string, servers int) error {
	if servers == 1 {
		return nil
	}
	return fmt.Errorf("%d servers of %s: expected one, which stands for a cluster", servers, kind)
}

// NewLone returns a server behind a proxy. Its addresses have the given scheme. items lists the server's items, and item is
// the word for one of them.
func NewLone(p *Proxy, scheme, item string, items func() []gate.Item) Lone {
	return Lone{Proxy: p, scheme: scheme, item: item, items: items}
}

// Listen opens an address for one client. It implements [gate.Server].
func (l *Lone) Listen(g gate.Gate, limits gate.Limits) (gate.Address, error) {
	a, err := l.Proxy.Listen(g, limits, func(host string) string { return l.scheme + "://" + host })
	if err != nil {
		return nil, err
	}
	return Addresses{a}, nil
}

// Plays reports whether the gate can cause a fault. It can cause all except the end of a channel, since connections
// have no channels, and a restart, since the server represents a cluster, which does not restart as a whole.
func (*Lone) Plays(do scenario.ActionKind) bool {
	return do != scenario.ChannelError && do != scenario.Restart
}

// Begin begins a run. part is the text that the names of the run's locks contain.
func (l *Lone) Begin(part string) {
	l.before = make(map[string]bool)
	for _, item := range l.items() {
		l.before[item.Name] = true
	}
	l.Proxy.Begin(NewNames(part))
}

// Items returns the items that did not exist before the run.
func (l *Lone) Items() (all []gate.Item) {
	for _, item := range l.items() {
		if !l.before[item.Name] {
			all = append(all, item)
		}
	}
	return all
}

// Canonical returns an item's name as traces show it.
func (l *Lone) Canonical(name string) string { return l.Names().Item(name) }

// Note records err, unless an earlier error is recorded.
func (l *Lone) Note(err error) { l.err = cmp.Or(l.err, err) }

// Err returns the first recorded error.
func (l *Lone) Err() error { return l.err }

// Words returns the word for an item. The word for an amount is "", as items have no amounts.
func (l *Lone) Words() (item, amount string) { return l.item, "" }
