package draw

import (
	"fmt"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// The causes of a wrong belief of a client: that it holds a slot, that the lock is full, or that a slot is gone.

// heldTwice says why two clients hold one slot at the same time.
func (d *causer) heldTwice() string {
	s := &d.Steps[d.at]
	c, other := int(s.Action.Client), int(d.v.Other)
	if c == other {
		other = d.c
	}
	switch {
	case refused(s):
		return fmt.Sprintf("c%d was refused at %s (%s → %s) and went on as holder%s", c, stepWord(d.at), command(s), d.reply(d.at), d.while(c, other))
	case claims(s) && s.Exchange.Result == backend.Ended:
		return fmt.Sprintf("c%d's claim was not granted at %s (%s), and it went on as holder%s", c, stepWord(d.at), d.exchange(d.at), d.while(c, other))
	case claims(s) && s.Exchange.Result == backend.Done:
		return d.acceptedTwice(c, other)
	case d.at < d.shows && s.Exchange.Access == backend.Delete:
		return fmt.Sprintf("c%d gave %s up at %s (%s) and went on as holder%s", c, d.lock(), stepWord(d.at), d.exchange(d.at), d.while(c, other))
	case d.at < d.shows:
		return fmt.Sprintf("c%d lost %s at %s and went on as holder%s", c, d.lock(), stepWord(d.at), d.while(c, other))
	}
	return d.unclaimed(c, other)
}

// while returns the end of a sentence. It says which other client has the slot when the violation shows: for example
// ", while c2 has slot 1".
func (d *causer) while(c, other int) string {
	if owner := int(d.truth(d.shows).Owner[d.v.Slot] &^ monitor.HalfOpen); owner != 0 && owner != c {
		other = owner
	}
	return fmt.Sprintf(", while c%d has %s", other, d.lock())
}

// acceptedTwice says that two clients declared the same queue, and that the broker accepted both declarations.
func (d *causer) acceptedTwice(c, other int) string {
	s := &d.Steps[d.at]
	why := "it is not declared exclusive"
	if s.Exchange.Exclusive && d.Scenario.Facts().SharedSession {
		why = fmt.Sprintf("c%d and c%d share one connection, to which it is exclusive", other, c)
	}
	return fmt.Sprintf("c%d's %s was accepted at %s although c%d had the queue already: %s", c, command(s), stepWord(d.at), other, why)
}

// unclaimed says that a client believes that it holds the slot although it never declared the slot's queue.
func (d *causer) unclaimed(c, other int) string {
	answer, at := d.told(d.shows, c)
	if at < 0 || answer.F.Op() != lock.Acquire || !answer.Held {
		return ""
	}
	op, began := d.call(at, c)
	if op == "" || d.last(began, at, c, claims) >= 0 {
		return ""
	}
	last := d.lastSent(began, at, c)
	if last < 0 {
		return fmt.Sprintf("c%d's %s asked the broker nothing and went on as holder, while c%d has %s", c, op, other, d.lock())
	}
	return fmt.Sprintf("c%d declared nothing: it took %s at %s for a hold, as c%d did", c, d.exchange(last), stepWord(last), other)
}

// wrongAnswer says why the answer of a call contradicts the server's state: on which reply the call relied, and what
// was true.
func (d *causer) wrongAnswer() string {
	answer, at := d.told(d.shows, d.c)
	op, began := d.call(at, d.c)
	if at < 0 || op == "" {
		return ""
	}
	last := d.at
	if !d.sent(last, d.c) {
		last = d.lastSent(began, at, d.c)
	}
	if last < 0 {
		return fmt.Sprintf("c%d's %s asked the broker nothing and %s at %s", d.c, op, d.said(answer), stepWord(at))
	}
	fact := d.fact(answer, began, at)
	if fact == "" {
		return ""
	}
	return fmt.Sprintf("c%d's %s relied on %s at %s and %s, though %s", d.c, op, d.exchange(last), stepWord(last), d.said(answer), fact)
}

// fact describes the server's state that contradicts the answer of a call; "" if it is unknown.
func (d *causer) fact(e history.Event, began, at int) string {
	always := func(is func(*monitor.Truth) bool) bool {
		for i := began; i <= at; i++ {
			if !is(d.before(i)) {
				return false
			}
		}
		return true
	}
	slot, name := e.Slot, property.SlotName(d.History.Kind, int(e.Slot))
	exists := func(t *monitor.Truth) bool { return t.Exists>>slot&1 == 1 }
	switch e.F.Op() {
	case lock.Acquire:
		if e.Held {
			if t := d.truth(at); t.Taken>>slot&1 == 1 && int(t.Owner[slot]) != d.c {
				return fmt.Sprintf("c%d has %s", t.Owner[slot]&^monitor.HalfOpen, name)
			}
			return ""
		}
		free := monitor.AllSlots
		always(func(t *monitor.Truth) bool { free &= t.Free(); return true })
		if free != 0 && slot == history.AnySlot {
			return d.wereFree(free) + " all the while"
		}
	case lock.Verify:
		if !e.Held && slot <= monitor.Slots && always(exists) {
			return name + " existed all the while"
		}
	case lock.Wait:
		if slot <= monitor.Slots && always(func(t *monitor.Truth) bool { return t.Taken>>slot&1 == 1 }) {
			return fmt.Sprintf("c%d had %s all the while", d.truth(at).Owner[slot]&^monitor.HalfOpen, name)
		}
	}
	return ""
}

// wrongVerify says why a verify answered "held" although its client does not hold the slot.
func (d *causer) wrongVerify() string {
	_, began := d.call(d.shows, d.c)
	last := d.lastSent(began, d.shows, d.c)
	slot := property.SlotName(d.History.Kind, int(d.v.Slot))
	t := d.truth(d.shows)
	is := fmt.Sprintf("%s is nobody's", slot)
	switch owner := int(t.Owner[d.v.Slot] &^ monitor.HalfOpen); {
	case t.Exists>>d.v.Slot&1 == 0 && d.v.Property == property.HonestVerify:
		is = fmt.Sprintf("%s does not exist any more", slot)
		if at := d.became(func(before, after *monitor.Truth) bool { return (before.Exists&^after.Exists)>>d.v.Slot&1 == 1 }); at >= 0 {
			is = fmt.Sprintf("%s was gone since %s", slot, stepWord(at))
		}
	case owner != 0 && owner != d.c:
		is = fmt.Sprintf("c%d has %s", owner, slot)
	case d.v.Property == property.StaleBeliefEnds:
		if cut := d.cut(d.shows, d.c); cut != "" {
			is = cut
		}
	}
	switch {
	case last < 0:
		return fmt.Sprintf("c%d's verify asked the broker nothing and said \"held\" at %s, though %s", d.c, stepWord(d.shows), is)
	case d.at < d.shows && d.Steps[d.at].Exchange.Result == backend.Ended:
		return fmt.Sprintf("c%d's verify learned at %s that its connection was gone (%s), connected again and said \"held\", though %s", d.c, stepWord(d.at), d.reply(d.at), is)
	}
	return fmt.Sprintf("c%d's verify relied on %s at %s and said \"held\", though %s", d.c, d.exchange(last), stepWord(last), is)
}

// phantom says why a slot was granted that did not exist.
func (d *causer) phantom() string {
	op, began := d.call(d.shows, d.c)
	if op == "" {
		return ""
	}
	if d.at < d.shows {
		return fmt.Sprintf("c%d's %s never asked whether %s exists: from %s on it asked %s", d.c, op, d.lock(), stepWord(began), d.asked(began, d.shows, d.c))
	}
	absent := d.last(began, d.shows, d.c, func(s *scenario.TraceStep) bool { return s.Exchange.Result == backend.Absent })
	if absent < 0 {
		absent = d.lastSent(began, d.shows, d.c)
	}
	if absent < 0 {
		return ""
	}
	return fmt.Sprintf("c%d went on as holder after %s at %s, though %s did not exist", d.c, d.exchange(absent), stepWord(absent), d.lock())
}

// miscounted says why the answer of a count is wrong.
func (d *causer) miscounted() string {
	answer, at := d.told(d.shows, d.c)
	op, began := d.call(at, d.c)
	if at < 0 || op == "" {
		return ""
	}
	last := d.lastSent(began, at, d.c)
	if last < 0 {
		return fmt.Sprintf("c%d's %s asked the broker nothing and %s", d.c, op, d.said(answer))
	}
	return fmt.Sprintf("c%d's %s ended with %s at %s and %s, though the lock had %d", d.c, op, d.exchange(last), stepWord(last), d.said(answer), d.truth(at).Count())
}

// stuck says why a client makes no progress.
func (d *causer) stuck() string {
	answer, at := d.told(d.shows, d.c)
	op, began := d.call(d.shows, d.c)
	if op == "" {
		return ""
	}
	if at == d.shows && answer.F.Op() == lock.Acquire && !answer.Held { // the call ended and missed a free slot
		meant := ""
		if at := d.last(began, at, d.c, refused); at >= 0 {
			meant = fmt.Sprintf(", after it was refused at %s (%s)", stepWord(at), d.reply(at))
		}
		free := d.truth(d.shows).Free()
		for i := began; i <= d.shows; i++ {
			free &= d.before(i).Free()
		}
		if free == 0 {
			return ""
		}
		return fmt.Sprintf("c%d's %s asked %s and %s at %s%s, though %s all the while",
			d.c, op, d.asked(began, d.shows, d.c), d.said(answer), stepWord(d.shows), meant, d.wereFree(free))
	}
	if before := d.last(began, d.at-1, d.c, refused); before >= 0 {
		return fmt.Sprintf("c%d was refused at %s (%s), its last permitted attempt, and went on at %s (%s) instead of giving up",
			d.c, stepWord(before), d.exchange(before), stepWord(d.at), d.exchange(d.at))
	}
	if d.sent(d.shows, d.c) {
		return fmt.Sprintf("c%d's %s went on at %s (%s) after its last permitted look", d.c, op, stepWord(d.shows), d.exchange(d.shows))
	}
	return ""
}
