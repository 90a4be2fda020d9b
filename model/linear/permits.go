package linear

import (
	"fmt"
	"github.com/lockproof/lockproof/model/property"
	"slices"
)

// A history whose acquires do not name slots is one of permits that are all alike. What its answers
// say is that never more of them were held than there are: for certain, each from the answer of its
// acquire to the call of its release. Of permits without numbers nobody can say that each was seen
// taken; that at one moment all were can be said, under strong failure.

// permits counts what is held for certain.
type permits struct {
	r      *normaliser
	strong bool
	now    int32
	held   []int32 // takes that have one
	room   int32   // the last moment at which there was one left
	full   int32   // the last moment at which there was none
}

// run checks the lock that a normaliser has at hand, which names no slots.
func (p *permits) run(r *normaliser, s property.FailedAcquire) Finding {
	if r.unproven {
		return unproved
	}
	*p = permits{r: r, strong: s == property.Strong, held: p.held[:0], room: never, full: never}
	for i, k := range r.at {
		p.now = int32(i)
		switch {
		case k < none:
			p.disconnect(k)
		case k >= 0 && r.calls[k].inv == p.now:
			p.begin(&r.calls[k])
		case k >= 0:
			d, why := p.end(k, &r.calls[k])
			if d != Legal {
				return Finding{Decision: d, Event: i, How: byFastCheck, Why: why}
			}
		}
	}
	return Finding{Decision: Legal, Event: -1, How: byFastCheck}
}

// begin gives back what a release may give back at once.
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

// lose takes a permit from one that may be without it by now, if there is one.
func (p *permits) lose() bool {
	for _, k := range p.held {
		if c := &p.r.calls[k]; c.traits.has(mayExpire) && c.exit <= p.now {
			p.drop(k)
			return true
		}
	}
	return false
}

// disconnect is the end of a client's connection, or of all.
func (p *permits) disconnect(at int32) {
	for i := len(p.held) - 1; i >= 0; i-- {
		if k := p.held[i]; at == restarted || p.r.calls[k].client == clientOf(at) {
			p.drop(k)
		}
	}
}

// end decides whether an answer is true, and says why not.
func (p *permits) end(k int32, c *operation) (Decision, string) {
	switch c.effect {
	case takes:
		return p.take(k, c)
	case findsHeld:
		return p.verify(c, &p.r.calls[c.link])
	case findsFull:
		if p.strong && len(p.held) < p.r.permits && p.full <= c.inv {
			return Undecided, "whether all permits were held at one moment"
		}
	case impossible:
		return Illegal, fmt.Sprintf("%s's %s at %s is about a permit that it did not have", p.r.who(c), p.r.operation(c), p.r.h.Moment(int(c.ret)))
	}
	return Legal, ""
}

// verify looks at what an answer says of grant g.
func (p *permits) verify(c, g *operation) (Decision, string) {
	switch {
	case g.exit < c.ret:
		return Undecided, "a permit that may have been given back is verified"
	case g.traits.has(lost) && p.ended(c.client, g.ret, c.inv):
		return Illegal, fmt.Sprintf("%s was told at %s that it holds a permit, but its connection had ended before", p.r.who(c), p.r.h.Moment(int(c.ret)))
	}
	return Legal, ""
}

// ended reports whether a client's connection ended between two events.
func (p *permits) ended(client, from, to int32) bool {
	return slices.ContainsFunc(p.r.at[from:to], func(at int32) bool { return at == restarted || at == goneOf(client) })
}

// take has a permit from now on. One whose connection ended in its course needs only a moment at which
// one was left, just before that or later, as it may have been without it since.
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
