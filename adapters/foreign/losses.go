package foreign

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// A client may report, unasked, that it has lost a lock. From then on it does not believe to hold the lock. The library
// decides when to report, and the delay is measured. A client that reports losses makes two promises. First, a lock
// that it reports as lost is lost: package beliefs judges that. Second, if its lock is granted to another client, it
// reports the loss before the execution is at rest: this file judges that.

// Losing is a Client that may report, unasked, that it has lost a lock.
type Losing interface {
	// Lost returns the losses that the client has reported since the last call of Lost, in order.
	Lost() []Loss
}

// Loss is a client's report that it has lost a lock.
type Loss struct {
	Name   string // name of the lost lock
	During bool   // the report came before the answer to the operation under way
}

// lossesOf returns the losses that client c has reported since the last call, if c can report any.
func lossesOf(c Client) []Loss {
	if l, ok := c.(Losing); ok {
		return l.Lost()
	}
	return nil
}

// Told counts the reports of lost locks that had been granted to another client. Most is the longest delay of a report
// after that grant, in virtual time.
type Told struct {
	Times int
	Most  time.Duration
}

// Add adds the reports of o.
func (t *Told) Add(o Told) {
	t.Times += o.Times
	t.Most = max(t.Most, o.Most)
}

// Reading describes the reports in words; "" if there was none.
func (t *Told) Reading() string {
	if t.Times == 0 {
		return ""
	}
	return fmt.Sprintf("clients told of a lost lock %d times, at most %v after somebody else had been granted it", t.Times, t.Most)
}

// loss records that a client's lock was granted to another client.
type loss struct {
	to uint8 // number of the client that was granted the lock; 0 if there is no loss
	at int64 // virtual time of the grant, in milliseconds
}

// losses handles the reports of losses in all. during selects those that came before the answer to the operation that
// has just ended, else those after it.
func (r *run) losses(all map[*clientHandle][]Loss, during bool) {
	for i := range r.clients {
		p := &r.clients[i]
		if slices.Contains(all[p.clientHandle], Loss{Name: r.place(r.sc.Locks[r.lockOf(p.id)].Name), During: during}) {
			r.hasLost(p)
		}
	}
}

// tellings is the losses that clients have reported since the last call, by client.
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

// hasLost handles p's report that it has lost its lock. Without leases, the server may still count p as a holder, so p
// is unsure.
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

// grants records a loss for every other client that believes to hold the slot that p was just granted.
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

// hears gives clients time to report their losses: the time of two leases passes. A client that has not reported after
// that never will: a fault that is over excuses no silence.
func (r *run) hears() error {
	if !r.about.Losses || !r.timed() || r.befell.faulty() && !r.hearsAfterFaults() {
		return nil
	}
	if err := r.elapse(2 * LeaseTime.Milliseconds()); err != nil {
		return err
	}
	for i := range r.clients {
		p := &r.clients[i]
		if !p.untold() {
			continue
		}
		r.exercised = r.exercised.With(property.LossTold)
		r.accuse(property.LossTold, p.id, p.lock, fmt.Sprintf("%s has lost %s to %s, which was granted it %v ago, and has not told of it",
			ClientName(int(p.id)), property.SlotName(r.config.Kind, int(p.held)), ClientName(int(p.loss.to)), time.Duration(r.now-p.loss.at)*time.Millisecond))
	}
	return nil
}

// untold reports whether the client lives, and has not reported a loss.
func (p *clientState) untold() bool { return !p.dead && p.held > 0 && p.loss.to > 0 }

// hearsAfterFaults reports whether clients get time to report their losses although there were faults: a client has not
// reported one. The leases on all locks end meanwhile, and then it cannot be judged any more whether a lock is freed at
// once. So no lock without such a client may be left to judge.
func (r *run) hearsAfterFaults() (hears bool) {
	for l := range r.sc.Locks {
		untold := slices.ContainsFunc(r.clients, func(p clientState) bool { return p.untold() && int(p.lock) == l })
		if !untold && r.judgesFreed() && r.leaseLasts(uint8(l)) {
			return false
		}
		hears = hears || untold
	}
	return hears
}
