package foreign

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// inventory maps each item that clients have created on the server, such as a queue, to its amount, such as the number
// of messages.
func (r *run) inventory() map[string]int {
	all := make(map[string]int)
	for _, item := range r.server.Items() {
		all[item.Name] = item.Amount
	}
	return all
}

// grown records a violation if an audit leaves more items on the broker than before, or larger amounts: each audit
// would add as much. New items that replace old ones do not count.
func (r *run) grown(l uint8, before map[string]int) {
	if r.disagrees() != "" {
		return
	}
	r.exercised = r.exercised.With(property.NoLeak)
	now := r.inventory()
	thing, amount := r.server.Words()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		n, there := before[name]
		what := ""
		switch {
		case !there && len(now) > len(before):
			what = thing
		case there && now[name] > n && !r.about.Tokens: // the number of messages may be a fencing token, which grows
			what = fmt.Sprintf("%d %s more in %s", now[name]-n, amount, thing)
		default:
			continue
		}
		r.accuse(property.NoLeak, 0, l, fmt.Sprintf("at rest, acquiring and releasing all leaves %s %s behind", what, r.server.Canonical(name)))
		return
	}
}

// releaseAll makes clients release what they hold.
func (r *run) releaseAll() error {
	for i := range r.clients {
		p := &r.clients[i]
		if p.dead || p.client == nil || p.held == 0 {
			continue
		}
		_, err := p.do(r.ctx, lock.Release, Params{Name: r.place(r.sc.Locks[r.lockOf(p.id)].Name), Slot: int(p.held)})
		if died(err) || errors.Is(err, errLasts) {
			err = p.kill()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// destroyAll makes the setup client destroy the locks. all says that every lock was destroyed.
func (r *run) destroyAll() (all bool, err error) {
	if r.config.Kind == lock.Mutex {
		return true, nil
	}
	if !r.supports(lock.Destroy) || r.handles[0].client == nil {
		return false, nil
	}
	all = r.sc.HistoryTells() // with gaps in the slot numbers, destroy may not find all slots
	for _, l := range r.sc.Locks {
		res, err := r.handles[0].do(r.ctx, lock.Destroy, Params{Name: r.place(l.Name)})
		if died(err) {
			r.crashed(0, err)
			return false, r.handles[0].kill()
		}
		if err != nil {
			return false, fmt.Errorf("destroying lock %s: %w", l.Name, err)
		}
		all = all && res.Outcome == lock.Done
	}
	return all, nil
}

// sweep deletes the items that clients have left on the server. If destroyed is set, all locks were destroyed and
// nothing went wrong, so that a left item is a violation.
func (r *run) sweep(destroyed bool) error {
	left := r.server.Items()
	if r.shared { // a real server deletes exclusive items when the shared connection closes
		left = slices.DeleteFunc(left, func(i gate.Item) bool { return i.Owner != nil && !r.server.Ours() })
	}
	if destroyed && r.config.Kind != lock.Mutex && !r.about.Tokens && r.disagrees() == "" { // fencing tokens must stay
		r.exercised = r.exercised.With(property.NoLeak)
		if len(left) > 0 {
			thing, _ := r.server.Words()
			r.accuse(property.NoLeak, 0, 0, "after everything was released and destroyed, "+thing+" "+r.server.Canonical(left[0].Name)+" is left")
		}
	}
	var names []string
	for _, item := range left {
		if item.Owner == nil || r.shared {
			names = append(names, item.Name)
		} else {
			r.part(item.Owner)
		}
	}
	return r.server.Remove(names)
}

// part cuts a connection that owns an item, so that the server deletes the item.
func (r *run) part(c gate.Conn) {
	r.mu.Lock()
	if l := r.connections[c]; l != nil {
		l.client.dirty, l.client.harmed, l.client.cut = true, true, true
		r.leave(l)
	}
	r.mu.Unlock()
	c.Cut()
}
