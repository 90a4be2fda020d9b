package external

import (
	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/model/lock"
)

// A mutex by a message is made by whoever acquires it first, and whoever misses it later, as after a restart of the broker that
// took it away, has to make it again. Until then nobody can be granted it, so that it is not free. To be told that it is
// taken is wrong all the same where nobody else can be at it: a history does not show that, if it has an acquire without an
// answer, which may have been granted it.

// unmade reports whether the lock of a client that begins to acquire is yet to be made, and nobody else can be at it: nobody
// is at work or has left something unanswered, and the broker has no dead client's connection.
func (r *run) unmade(p *clientState) bool {
	l := r.lockOf(p.id)
	if r.config.Kind != lock.Mutex || r.design.Holding != recognise.ByMessage || r.design.Single || !r.pending(l) || len(r.halfOpen) > 0 || p.troubled {
		return false
	}
	for i := range r.clients {
		if o := &r.clients[i]; o.id != p.id && (o.busy || o.unsure && !o.dead || o.gaveUp) {
			return false
		}
	}
	return true
}

// pending reports whether the message of a mutex is yet to be put into its queue.
func (r *run) pending(l uint8) bool {
	return r.truth[l].Pending&r.truth[l].Exists&^r.truth[l].Taken != 0
}

// snatched judges an acquire that fails because what it uses is gone, though nothing has happened but what clients do and nobody
// changes the slots: it was never created, or somebody has deleted it, or had it deleted, by acquiring or releasing. What somebody still consumes, only the
// broker itself takes away (broker.Options.SuccessorServed).
func (r *run) snatched(p *clientState, res lock.Result) {
	if p.op != lock.Acquire || res.Outcome != lock.Unknown || !p.vanished || p.cancelled || p.troubled || p.dead || !r.record.plain() || r.administers() {
		return
	}
	if l := &r.sc.Locks[r.lockOf(p.id)]; r.config.Kind != lock.Mutex && l.Slots == 0 {
		r.noProgress(p.id, `the acquire fails because the lock was never created: acquire has to answer {"held":false} then, which is no error`)
		return
	}
	r.noProgress(p.id, "the acquire fails because a queue or an exchange is gone, which nobody was asked to delete")
}

// neverMade judges an acquire that is answered with no, and whose client has been alone with a lock that is yet to be made.
func (r *run) neverMade(p *clientState, res lock.Result) {
	alone := p.alone == len(r.record.Events)
	if !alone || res.Reason != lock.Full || !r.pending(r.lockOf(p.id)) {
		return
	}
	r.noProgress(p.id, "acquire did not get the lock, which nobody has, and is to be made")
}

// refusedFirst judges an acquire that is answered with no, or fails, though nobody has done anything before, where it is not known what
// holds a lock: what is known to be free is judged by that.
func (r *run) refusedFirst(p *clientState, res lock.Result) {
	l := &r.sc.Locks[r.lockOf(p.id)]
	made := r.config.Kind == lock.Mutex || l.Slots > 0 && l.Missing == 0
	if r.design.Known() || p.op != lock.Acquire || p.mayWait || p.troubled || !made || r.about.Limits || r.about.Slotless() {
		return
	}
	refused := res.Outcome != lock.Done && (res.Reason == lock.Full || res.Reason == lock.NoReason)
	if refused && len(r.record.Events) == 1 && r.record.plain() { // that it was called
		r.noProgress(p.id, "acquire did not get the lock, for which nobody had asked before")
	}
}
