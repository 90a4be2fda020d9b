package linear

import (
	"fmt"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// If acquires name no slots, all slots are alike: they are permits. A permit is certainly held from the answer of an
// acquire to the call of its release. The check counts these permits. The history is illegal if more are certainly held
// than there are. A "full" answer says little: only under strong semantics does it mean that all permits were held at
// one moment.

// permits is the fast check of a lock whose acquires name no slots. It counts the permits that are certainly held.
type permits struct {
	r      *normaliser
	strong bool
	now    int32
	held   []int32 // calls of the acquires whose permits count as held
	room   int32   // the last moment at which a permit was left
	full   int32   // the last moment at which no permit was left
}

// run decides the history of the lock that the normaliser has prepared.
func (p *permits) run(r *normaliser, s property.FailedAcquire) Finding {
	if r.unproven {
		return unproved
	}
	p.reset(r, s)
	for i, k := range r.at {
		if f, over := p.event(int32(i), k); over {
			return f
		}
	}
	return legal
}

func (p *permits) reset(r *normaliser, s property.FailedAcquire) {
	*p = permits{r: r, strong: s == property.Strong, held: p.held[:0], room: never, full: never}
}

// event handles event i. k is the call of the event, or a negative mark (see normaliser.at). If over is true, f is the
// final finding.
func (p *permits) event(i, k int32) (f Finding, over bool) {
	p.now = i
	switch {
	case k < none:
		p.disconnect(k)
	case k >= 0 && p.r.call(k).inv == i:
		p.begin(p.r.call(k))
	case k >= 0:
		if d, why := p.end(k, p.r.call(k)); d != Legal {
			return Finding{Decision: d, Event: int(i), How: byFastCheck, Why: why}, true
		}
	}
	return Finding{}, false
}

// begin handles an invocation. The permit of a release is free at once.
func (p *permits) begin(c *operation) {
	if c.effect == frees {
		p.drop(c.link)
	}
}

func (p *permits) drop(k int32) {
	if len(p.held) >= p.r.permits {
		p.full = p.now
	}
	p.held = remove(p.held, k)
}

// lose gives up the permit of a holder that may have lost it by now. It reports whether there is such a holder.
func (p *permits) lose() bool {
	for _, k := range p.held {
		if c := p.r.call(k); c.traits.has(mayExpire|loose) && c.exit <= p.now {
			p.drop(k)
			return true
		}
	}
	return false
}

// disconnect handles the end of one client's connection, or a restart, which ends all connections.
func (p *permits) disconnect(at int32) {
	for i := len(p.held) - 1; i >= 0; i-- {
		if k := p.held[i]; at == restarted || p.r.call(k).client == clientOf(at) {
			p.drop(k)
		}
	}
}

// end decides whether the answer of call k is true, and says why if it is not.
func (p *permits) end(k int32, c *operation) (Decision, string) {
	switch c.effect {
	case takes:
		return p.take(k, c)
	case findsHeld:
		return p.verify(c, p.r.call(c.link))
	case findsFull:
		if p.strong && len(p.held) < p.r.permits && p.full <= c.inv {
			return Undecided, "whether all permits were held at one moment"
		}
	case impossible:
		if c.op == lock.Release {
			return Illegal, fmt.Sprintf("%s gave a permit back at %s, which it did not have", p.r.who(c), p.r.h.Moment(int(c.ret)))
		}
		return Illegal, fmt.Sprintf("%s's %s at %s is about a permit that it did not have", p.r.who(c), p.r.operation(c), p.r.h.Moment(int(c.ret)))
	}
	return Legal, ""
}

// verify decides whether a client that verified still held the permit of its grant g.
func (p *permits) verify(c, g *operation) (Decision, string) {
	switch {
	case g.exit < c.ret:
		return Undecided, "a permit that may have been given back is verified"
	case g.traits.has(lost) && g.lostAt < c.inv:
		return Illegal, fmt.Sprintf("%s was told at %s that it holds a permit, but its connection had ended before", p.r.who(c), p.r.h.Moment(int(c.ret)))
	}
	return Legal, ""
}

// take records that an acquire holds a permit from now on. If the acquire's connection ended during the call, it may
// have lost the permit at that end. Then it suffices that some permit was left just before that end, or later.
func (p *permits) take(k int32, c *operation) (Decision, string) {
	left := p.r.permits - len(p.held)
	if left <= 0 && p.lose() {
		left++
	}
	if left > 0 {
		p.room = p.now
	}
	switch {
	case left > 0 && !c.traits.has(interrupted):
		p.held = append(p.held, k)
	case left > 0 || c.traits.has(interrupted) && p.room >= c.exit:
	default:
		return Illegal, fmt.Sprintf("%s was granted a permit at %s, but all %d were held", p.r.who(c), p.r.h.Moment(int(c.ret)), p.r.permits)
	}
	return Legal, ""
}
