package stream

import (
	"cmp"
	"fmt"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/scenario"
)

// Lone is one server of our own that stands for a cluster, with items that are not counted. A plug-in embeds it.
type Lone struct {
	gate.Private
	*Proxy
	scheme string // of its addresses
	item   string // what its items are called
	items  func() []gate.Item
	before map[string]bool // items that there were before the run
	err    error           // of what could not be done, the first
}

// ErrSeveral refuses servers of a kind, unless they are one. A lock on several has its items on each: none is known that does that.
func ErrSeveral(kind string, servers int) error {
	if servers == 1 {
		return nil
	}
	return fmt.Errorf("%d servers of %s: expected one, which stands for a cluster", servers, kind)
}

// NewLone is a server behind a proxy, with addresses of a scheme. items are what it has, each called item.
func NewLone(p *Proxy, scheme, item string, items func() []gate.Item) Lone {
	return Lone{Proxy: p, scheme: scheme, item: item, items: items}
}

// Listen opens an address for one client.
func (l *Lone) Listen(g gate.Gate, limits gate.Limits) (gate.Address, error) {
	a, err := l.Proxy.Listen(g, limits, func(host string) string { return l.scheme + "://" + host })
	if err != nil {
		return nil, err
	}
	return Addresses{a}, nil
}

// Plays reports whether a fault can be made to happen: connections have no channels, and the server stands for a cluster, which is
// not restarted.
func (*Lone) Plays(do scenario.ActionKind) bool {
	return do != scenario.ChannelError && do != scenario.Restart
}

// Begin begins a run.
func (l *Lone) Begin(part string) {
	l.before = make(map[string]bool)
	for _, item := range l.items() {
		l.before[item.Name] = true
	}
	l.Proxy.Begin(NewNames(part))
}

// Items are what there was not before the run.
func (l *Lone) Items() (all []gate.Item) {
	for _, item := range l.items() {
		if !l.before[item.Name] {
			all = append(all, item)
		}
	}
	return all
}

// Canonical is an item's name in traces.
func (l *Lone) Canonical(name string) string { return l.Names().Item(name) }

// Note keeps the first error of what could not be done.
func (l *Lone) Note(err error) { l.err = cmp.Or(l.err, err) }

// Err is that error.
func (l *Lone) Err() error { return l.err }

// Words are those of items, which have nothing in them that is counted.
func (l *Lone) Words() (item, amount string) { return l.item, "" }
