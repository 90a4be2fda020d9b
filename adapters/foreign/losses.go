package foreign

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// A client may tell, unasked, that it has lost a lock: from then on it does not believe to hold it. When it tells is the library's
// business, and measured. Two things are promised by a client that tells at all. What it tells of, it has lost: package beliefs judges
// that. And it tells, before an execution is at rest, of what somebody else was granted: that is judged here.

// Losing is a Client that may tell, unasked, that it has lost a lock.
type Losing interface {
	// Lost takes what it has told of since it was asked last, in its order.
	Lost() []Loss
}

// Loss is that a client has told of a lost lock.
type Loss struct {
	Name   string // of the lock
	During bool   // an operation was under way, whose answer had not come
}

// lossesOf takes what a client has told of.
func lossesOf(c Client) []Loss {
	if l, ok := c.(Losing); ok {
		return l.Lost()
	}
	return nil
}

// Told is how often clients have told of a lock that somebody else had been granted, and how late at most, of virtual time.
type Told struct {
	Times int
	Most  time.Duration
}

// Add adds what was told elsewhere.
func (t *Told) Add(o Told) {
	t.Times += o.Times
	t.Most = max(t.Most, o.Most)
}

// Reading is that in words; "" where there was none.
func (t *Told) Reading() string {
	if t.Times == 0 {
		return ""
	}
	return fmt.Sprintf("clients told of a lost lock %d times, at most %v after somebody else had been granted it", t.Times, t.Most)
}

// loss is a hold that somebody else was granted.
type loss struct {
	to uint8 // the client; 0 is nobody
	at int64 // in virtual milliseconds
}

// losses takes what clients have told of: what they told before, or after, the answer to the operation that has just ended.
func (r *run) losses(all map[*clientHandle][]Loss, during bool) {
	for i := range r.clients {
		p := &r.clients[i]
		if slices.Contains(all[p.clientHandle], Loss{Name: r.place(r.sc.Locks[r.lockOf(p.id)].Name), During: during}) {
			r.hasLost(p)
		}
	}
}

// tellings are what clients have told of since it was looked last.
func (r *run) tellings() map[*clientHandle][]Loss {
	if !r.about.Losses {
		return nil
	}
	all := make(map[*clientHandle][]Loss)
	for _, a := range r.handlesInPlay() {
		if said := lossesOf(a.client); said != nil {
			all[a] = said
		}
	}
	return all
}

// hasLost is a client that tells that it has lost what it holds. Without a lease, that may be there still.
func (r *run) hasLost(p *clientState) {
	if p.held == 0 {
		return
	}
	if p.loss.to > 0 {
		r.told.Add(Told{Times: 1, Most: time.Duration(r.now-p.loss.at) * time.Millisecond})
	}
	p.held, p.loss, p.unsure = 0, loss{}, p.unsure || !r.about.Leases
	if r.record.Open() {
		r.event(history.Lost, p.id)
		return
	}
	r.record.Begin(scenario.Action{Kind: scenario.Audit, Client: p.id})
	r.event(history.Lost, p.id)
	r.endStep()
}

// grants notes whose hold a client was granted.
func (r *run) grants(p *clientState) {
	p.loss = loss{}
	if !r.about.Losses || r.alike || r.about.shares() {
		return
	}
	for i := range r.clients {
		o := &r.clients[i]
		if o.id != p.id && !o.dead && o.held == p.held && r.lockOf(o.id) == r.lockOf(p.id) && o.loss.to == 0 {
			o.loss = loss{to: p.id, at: r.now}
		}
	}
}

// hears lets clients tell of what they have lost: as much time passes as two leases last. Whoever does not tell then never will.
func (r *run) hears() error {
	if !r.about.Losses || !r.timed() || r.befell.faulty() {
		return nil
	}
	if err := r.elapse(2 * LeaseTime.Milliseconds()); err != nil {
		return err
	}
	for i := range r.clients {
		p := &r.clients[i]
		if p.dead || p.held == 0 || p.loss.to == 0 {
			continue
		}
		r.exercised = r.exercised.With(property.LossTold)
		r.accuse(property.LossTold, p.id, p.lock, fmt.Sprintf("%s has lost %s to %s, which was granted it %v ago, and has not told of it",
			ClientName(int(p.id)), property.SlotName(r.config.Kind, int(p.held)), ClientName(int(p.loss.to)), time.Duration(r.now-p.loss.at)*time.Millisecond))
	}
	return nil
}
