package draw

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Expected says in one sentence what a correct lock would have done instead of the violation. It is "" if the
// property's own sentence already says so.
func Expected(t *scenario.Trace, v scenario.Violation) string {
	if d, is := outside(t, v); is && ofBelief.Has(v.Property) {
		if said := d.otherBelief(); said != "" {
			return sentence(said)
		}
	}
	if c := causerOf(t, v); c != nil {
		if text := c.expected(); text != "" {
			return sentence(text)
		}
	}
	return ""
}

func (d *causer) expected() string {
	switch d.v.Property {
	case property.MutualExclusion, property.NoFalseHold, property.NoPhantomSlot, property.RemovalDrains, property.Linearizable,
		property.HonestVerify, property.StaleBeliefEnds, property.ExactCount, property.Progress:
		return d.otherAnswer()
	case property.ContiguousSlots:
		return d.otherSlots()
	case property.AdminExclusion:
		return "one of the two waits, or gives up, until the other has finished and given the administration mutex back"
	case property.EffectiveRelease:
		return fmt.Sprintf("c%d's release gives back what holds %s, and nothing else", d.c, d.lock())
	case property.CrashFrees:
		return fmt.Sprintf("what holds %s goes with its client's connection", d.lock())
	case property.SurvivesRestart:
		return property.ForKind(d.History.Kind, "after the restart every slot is there, and nobody holds any", "after the restart the lock is there, and nobody holds it")
	case property.NoLeak:
		if strings.Contains(d.v.Detail, "messages") {
			return "a queue that is asked by messages keeps none of them"
		}
		goes := "the connection"
		if lock.WordsOf(d.Scenario.Target, d.Scenario.Server).OffBroker() {
			goes = "its session"
		}
		return "whoever made it deletes it before its call ends, or it goes with " + goes
	case property.CheapAcquire, property.CheapVerify:
		return d.cheaper()
	case property.MinimalDriver:
		return "the same is learned by publishing, declaring and deleting, which every driver can"
	case property.NameSafety:
		return "each name is that of one resource of one lock"
	}
	return ""
}

// otherAnswer says what a correct lock would have answered to the call that shows the violation.
func (d *causer) otherAnswer() string {
	c := d.c
	if acts := int(d.Steps[d.shows].Action.Client); acts > 0 && acts != c && (d.v.Property == property.MutualExclusion || d.v.Property == property.NoFalseHold) {
		c = acts
	}
	e, at := d.told(d.shows, c)
	op, began := d.call(d.shows, c)
	if at != d.shows || op == "" { // the call goes on, or it ended earlier
		return d.noEnd(op)
	}
	slot := property.SlotName(d.History.Kind, int(e.Slot))
	kind := d.History.Kind
	switch call := fmt.Sprintf("c%d's %s", c, op); {
	case e.F.Op() == lock.Acquire && e.Held:
		return d.notGranted(call, slot)
	case e.F.Op() == lock.Acquire:
		free := monitor.AllSlots
		for i := began; i <= at; i++ {
			free &= d.before(i).Free()
		}
		if free == 0 { // no slot stayed free on the server, but by the clients' answers one was free
			return call + property.ForKind(kind, " finds a slot that nobody was told to hold", " gets the lock")
		}
		return call + " gets " + property.ForKind(kind, anySlot(free), "the lock")
	case e.F.Op() == lock.Verify && e.Held:
		return call + ` says "not held"`
	case e.F.Op() == lock.Verify:
		return call + ` says "held"`
	case e.F.Op() == lock.Count:
		return fmt.Sprintf("%s says %q", call, completionWords(history.Event{Process: e.Process, Type: history.OK, F: e.F, Slots: uint16(d.truth(at).Count())}, kind))
	case e.F.Op() == lock.Wait:
		return call + " goes on waiting, or says that it gave up, as long as somebody has " + slot
	}
	return ""
}

// notGranted says what a correct lock does in an acquire that wrongly took a slot.
func (d *causer) notGranted(call, slot string) string {
	switch {
	case d.v.Property == property.NoPhantomSlot:
		return fmt.Sprintf("%s finds that %s is not there, and does not grant it", call, slot)
	case d.v.Property == property.RemovalDrains:
		return fmt.Sprintf("%s looks once more whether %s is there, sees that it is not, and gives it back", call, slot)
	}
	return call + property.ForKind(d.History.Kind, " takes another slot, or says that all are taken", " says that somebody has the lock")
}

// noEnd says what a correct lock does if the violating call has not ended, or if no call was under way.
func (d *causer) noEnd(op string) string {
	switch {
	case d.v.Property == property.Progress && op != "":
		return fmt.Sprintf("c%d's %s ends after its last permitted attempt%s", d.c, op, d.thenSays(op))
	case d.v.Property == property.RemovalDrains:
		return fmt.Sprintf("c%d keeps %s until it releases it or its connection ends", d.c, d.lock())
	}
	if s := &d.Steps[d.at]; d.at < d.shows && s.Exchange.Access == backend.Delete {
		return fmt.Sprintf("c%d says that it does not hold %s any more, once it has given it up at %s", s.Action.Client, d.lock(), stepWord(d.at))
	}
	return fmt.Sprintf("only one of the two has %s", d.lock())
}

// thenSays adds what a call answers after its last attempt: that it gave up. It is "" for release and verify, which
// cannot give up.
func (d *causer) thenSays(op string) string {
	switch name, _, _ := strings.Cut(op, " "); name {
	case lock.Acquire.String(), lock.Wait.String():
		return ", and says that it gave up"
	case lock.Create.String(), lock.Add.String(), lock.Remove.String(), lock.Destroy.String(), lock.Count.String():
		return ", and says that somebody else administers"
	}
	return ""
}

// otherSlots says which slots a correct lock would have added or removed in the call that went wrong; "" if unknown.
func (d *causer) otherSlots() string {
	s, t := &d.Steps[d.at], d.truth(d.at)
	op, began := d.call(d.at, int(s.Action.Client))
	gone := uint16(0)
	if op != "" {
		gone = d.before(began).Exists &^ t.Exists
	}
	call := fmt.Sprintf("c%d's %s", s.Action.Client, op)
	asked, n := lock.NoOp, 0
	for i := max(began, 0); i <= d.at && op != ""; i++ {
		for _, e := range d.events(i, int(s.Action.Client)) {
			if asked = e.F.Op(); e.Type == history.Invoke {
				n = int(e.Slots)
			}
		}
	}
	switch {
	case d.at < d.shows && t.Exists != d.truth(d.shows).Exists: // another event changed the slots again
	case asked == lock.Add && t.Contiguous() && !d.before(began).Contiguous():
		return call + " deletes as well the slots above the hole, which it has not counted"
	case asked == lock.Add || asked == lock.Create:
		return call + property.ForKind(d.History.Kind, makes(asked, n), " makes the lock where it is missing, and deletes nothing")
	case asked == lock.Destroy || asked == lock.Remove && bits.OnesCount16(gone) < 2:
		return call + " deletes from the highest slot down: wherever it ends, what is left has no hole"
	case asked == lock.Remove:
		return call + " removes as many slots as it was asked to, and no more"
	case asked != lock.NoOp:
		return call + " makes no slot and deletes none: administrators do"
	}
	return "slots stay until an administrator removes them"
}

// makes describes which slots a correct add or create makes; n is the number that the caller asked for.
func makes(asked lock.Op, n int) string {
	switch {
	case asked == lock.Create:
		return fmt.Sprintf(" makes those of the slots 1 to %d that are missing, and deletes none", n)
	case n == 1:
		return " makes the lowest slot that is missing, and deletes none"
	}
	return fmt.Sprintf(" makes the %d lowest slots that are missing, and deletes none", n)
}

// cheaper says how a correct lock carries out a call that cost too much, for example without opening another
// connection.
func (d *causer) cheaper() string {
	op, _ := d.call(d.shows, d.c)
	if op == "" {
		return ""
	}
	call := fmt.Sprintf("c%d's %s", d.c, op)
	if d.Steps[d.at].Exchange.Aborted {
		return call + " asks in a way that no answer punishes by closing the channel, and claims only what nobody has"
	}
	return call + " uses the connection and the channel that it has, and asks once"
}
