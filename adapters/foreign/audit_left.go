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

// inventory returns the items that clients have made on the server: the amount of each, by name.
func (r *run) inventory() map[string]int {
	all := make(map[string]int)
	for _, item := range r.server.Items() {
		all[item.Name] = item.Amount
	}
	return all
}

// grown judges whether the broker has more items, or larger amounts, after an audit than before: what each audit adds is
// never removed. New items that replace others do not count.
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
		case there && now[name] > n && !r.about.Tokens: // tokens may be counted by messages
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

// destroyAll makes the setup client destroy the locks. all is false if a lock was not destroyed.
func (r *run) destroyAll() (all bool, err error) {
	if r.config.Kind == lock.Mutex {
		return true, nil
	}
	if !r.supports(lock.Destroy) || r.handles[0].client == nil {
		return false, nil
	}
	all = r.sc.HistoryTells() // if a lock began with gaps in its slot numbers, the client may not find all slots
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

// sweep deletes the items that are left. destroyed says that all locks were destroyed, in an execution in which nothing went
// wrong: then an item that is left is a violation.
func (r *run) sweep(destroyed bool) error {
	left := r.server.Items()
	if r.shared { // the shared connection stays open; on a real server its exclusive items end with it
		left = slices.DeleteFunc(left, func(i gate.Item) bool { return i.Owner != nil && !r.server.Ours() })
	}
	if destroyed && r.config.Kind != lock.Mutex && !r.about.Tokens && r.disagrees() == "" { // tokens must go on growing, so their items stay
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

// part cuts a connection that owns an item: the server deletes the item with the connection.
func (r *run) part(c gate.Conn) {
	r.mu.Lock()
	if l := r.connections[c]; l != nil {
		l.client.dirty, l.client.harmed, l.client.cut = true, true, true
		r.leave(l)
	}
	r.mu.Unlock()
	c.Cut()
}
