package draw

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/lockproof/lockproof/model/lock"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// The causes of a wrong state of the broker.

// holes says why the existing slots differ from those that the administrators made.
func (d *causer) holes() string {
	for l := range d.Scenario.Locks { // a violation that names no client may concern any lock
		other := *d
		other.v.Lock = uint8(l)
		if d.v.Client == 0 && d.before(d.at).Exists == d.truth(d.at).Exists && other.before(d.at).Exists != other.truth(d.at).Exists {
			return other.holes()
		}
	}
	s, t := &d.Steps[d.at], d.truth(d.at)
	c, before := int(s.Action.Client), d.before(d.at)
	op, began := d.call(d.at, c)
	made, gone := t.Exists&^before.Exists, before.Exists&^t.Exists
	switch {
	case d.at < d.shows && d.truth(d.shows).Exists != t.Exists && made != 0: // the slot has been removed since
		return fmt.Sprintf("%s was made at %s (%s), and its queue did not stay: at %s %s", slots(made), stepWord(d.at), command(s), stepWord(d.shows), actionWords(d.Steps[d.shows].Action, lock.WordsOf(d.Scenario.Target, d.Scenario.Server)))
	case !d.sent(d.at, c) && gone != 0:
		return fmt.Sprintf("%s disappeared at %s without being deleted: %s", slots(gone), stepWord(d.at), actionWords(s.Action, lock.WordsOf(d.Scenario.Target, d.Scenario.Server)))
	case made != 0 && !t.Contiguous():
		return fmt.Sprintf("c%d's %s made %s at %s (%s) while a slot below did not exist", c, op, slots(made), stepWord(d.at), d.exchange(d.at))
	case made != 0:
		return fmt.Sprintf("c%d's %s %s at %s (%s)", c, op, d.changed(began, c, made), stepWord(d.at), d.exchange(d.at))
	case gone != 0 && !t.Contiguous():
		return fmt.Sprintf("c%d's %s deleted %s at %s (%s) while %s still existed", c, op, slots(gone), stepWord(d.at), d.exchange(d.at), slots(t.Exists&^(1<<bits.TrailingZeros16(gone)-1)))
	case gone != 0 && d.before(began).Exists&^t.Exists&^gone == 0:
		return fmt.Sprintf("c%d's %s deleted %s at %s (%s)", c, op, slots(gone), stepWord(d.at), d.exchange(d.at))
	case gone != 0:
		return fmt.Sprintf("c%d's %s deleted %s: the last of them, %s, at %s", c, op, slots(d.before(began).Exists&^t.Exists), slots(gone), stepWord(d.at))
	}
	return ""
}

// changed lists the slots that a call has deleted, and those that it has made, up to the deciding step. last is the set
// of slots made in that step.
func (d *causer) changed(began, c int, last uint16) string {
	var made, gone uint16
	for i := max(0, began); i <= d.at; i++ {
		if d.sent(i, c) {
			made |= d.truth(i).Exists &^ d.before(i).Exists
			gone |= d.before(i).Exists &^ d.truth(i).Exists
		}
	}
	said := "made " + slots(last)
	if made != last {
		said = fmt.Sprintf("made %s, the last of them, %s,", slots(made), slots(last))
	}
	if gone != 0 {
		return fmt.Sprintf("deleted %s and %s", slots(gone), said)
	}
	return said
}

// twoAdministrators says why two clients carry out administrative operations at the same time.
func (d *causer) twoAdministrators() string {
	s := &d.Steps[d.at]
	c, owner := int(s.Action.Client), int(d.before(d.at).Admin)
	op, _ := d.call(d.at, c)
	other := owner
	if other == 0 || other == c {
		other = d.c
	}
	switch {
	case s.Exchange.Access == backend.Delete && owner == c:
		return fmt.Sprintf("c%d gave the administration mutex up at %s (%s) and went on administering", c, stepWord(d.at), d.exchange(d.at))
	case claims(s) && s.Exchange.Result == backend.Done && other != c && (!s.Exchange.Exclusive || d.Scenario.Facts().SharedSession):
		return d.acceptedTwice(c, other)
	case refused(s):
		return fmt.Sprintf("c%d was refused the administration mutex at %s (%s → %s) and went on administering", c, stepWord(d.at), command(s), d.reply(d.at))
	case owner != 0 && owner != c && op != "":
		return fmt.Sprintf("c%d's %s relied on %s at %s, when c%d had the administration mutex, and went on without it", c, op, d.exchange(d.at), stepWord(d.at), owner)
	}
	return fmt.Sprintf("c%d's %s went on at %s (%s) while another administered, and neither had taken the administration mutex", c, op, stepWord(d.at), d.exchange(d.at))
}

// removed says why a slot was granted after its removal, or why a holder lost its slot without a release.
func (d *causer) removed() string {
	gone := d.became(func(before, after *monitor.Truth) bool { return (before.Exists&^after.Exists)>>d.v.Slot&1 == 1 })
	if d.truth(d.shows).Taken>>d.v.Slot&1 == 0 {
		if made := d.taking(); made >= 0 && made < d.shows {
			return fmt.Sprintf("the queue by which c%d holds %s was declared at %s (%s) and went at %s, when %s", d.c, d.lock(), stepWord(made), d.exchange(made), stepWord(d.shows), actionWords(d.Steps[d.shows].Action, lock.WordsOf(d.Scenario.Target, d.Scenario.Server)))
		}
		return ""
	}
	if at := d.last(0, d.shows, d.c, claims); gone >= 0 && at >= 0 {
		order := "and went on as holder"
		if at > gone {
			order = "and went on as holder without asking again whether it is there"
		}
		return fmt.Sprintf("%s was deleted at %s; c%d claimed it at %s (%s) %s", d.lock(), stepWord(gone), d.c, stepWord(at), d.exchange(at), order)
	}
	return ""
}

// taking is the last step at which a client took the slot of the violation; -1 if there is none.
func (d *causer) taking() int {
	for i := d.shows; i >= 0; i-- {
		if d.taken(d.before(i), d.truth(i)) {
			return i
		}
	}
	return -1
}

// unreleased says why a slot cannot be acquired after its release.
func (d *causer) unreleased() string {
	op, began := d.call(d.shows, d.c)
	if op == "" {
		return ""
	}
	t, is := d.truth(d.shows), ""
	switch {
	case t.Taken>>d.v.Slot&1 == 1:
		is = fmt.Sprintf("its queue is still there, and c%d's", d.c)
	case t.Exists>>d.v.Slot&1 == 0:
		is = fmt.Sprintf("%s itself is gone", d.lock())
	}
	if is == "" {
		return ""
	}
	var sent []string
	no := fmt.Sprintf("which does not delete the queue that holds %s", d.lock())
	for i := began; i <= d.shows; i++ {
		if d.sent(i, d.c) {
			sent = append(sent, d.exchange(i))
		}
		if d.unanswered(i) {
			no = "to which no reply came"
		}
	}
	if len(sent) == 0 {
		return fmt.Sprintf("c%d's %s told the broker nothing (%s): %s", d.c, op, stepWord(d.shows), is)
	}
	return fmt.Sprintf("c%d's %s at %s was %s, %s: %s", d.c, op, stepWord(began), strings.Join(sent, ", "), no, is)
}

// unanswered reports whether a step sends a command that deletes the holder's queue, and gets no reply. The queue may
// then still exist.
func (d *causer) unanswered(i int) bool {
	x := &d.Steps[i].Exchange
	return d.sent(i, d.c) && d.reply(i) == "" && x.Access == backend.Delete &&
		(!x.Known || x.Role != backend.Slot && x.Slot == d.v.Slot)
}

// outlived says why a dead client still holds its slot, or why a restart of the broker removed a slot.
func (d *causer) outlived() string {
	t, before := d.truth(d.shows), d.before(d.shows)
	if gone := before.Exists &^ t.Exists; d.v.Property == property.SurvivesRestart && gone != 0 {
		return fmt.Sprintf("the restart at %s took %s with it: its queue is not durable", stepWord(d.shows), slots(gone))
	}
	if s := &d.Steps[d.at]; claims(s) {
		return fmt.Sprintf("c%d claimed %s at %s by %s, which is not exclusive: the queue stayed when the connection ended at %s",
			s.Action.Client, property.SlotName(d.History.Kind, d.claimed()), stepWord(d.at), command(s), stepWord(d.shows))
	}
	return ""
}

// claimed is the number of the slot that a client took in the deciding step; 0 if it is unknown.
func (d *causer) claimed() int {
	if new := d.truth(d.at).Taken &^ d.before(d.at).Taken; new != 0 {
		return bits.TrailingZeros16(new)
	}
	return int(d.v.Slot)
}

// leaked says which queue or message a client made and nobody deleted.
func (d *causer) leaked() string {
	if strings.Contains(d.v.Detail, "messages") {
		return fmt.Sprintf("c%d's probe stays as a message at %s (%s): the queue has no limit, and nobody takes it out", d.Steps[d.at].Action.Client, stepWord(d.at), d.exchange(d.at))
	}
	t := d.truth(d.shows)
	var made int
	switch admin := int(t.Admin &^ monitor.HalfOpen); {
	case strings.Contains(d.v.Detail, "administration"):
		made = d.last(0, d.shows, admin, func(s *scenario.TraceStep) bool { return claims(s) && s.Exchange.Result == backend.Done })
	case t.Taken>>d.v.Slot&1 == 1 && d.v.Slot > 0:
		made = d.taking()
	default:
		return ""
	}
	answer, at := d.told(d.shows, d.c)
	if op, _ := d.call(d.shows, d.c); made >= 0 && at >= 0 && op != "" {
		return fmt.Sprintf("c%d declared %s at %s, and its %s %s at %s without deleting it", d.Steps[made].Action.Client, d.queue(made), stepWord(made), op, d.said(answer), stepWord(at))
	}
	return ""
}

// wasteful says which step of an operation exceeded its budget of commands, channels and connections.
func (d *causer) wasteful() string {
	op, began := d.call(d.shows, d.c)
	s := &d.Steps[d.at]
	switch {
	case op == "":
		return ""
	case s.Exchange.Access == backend.OpenSession || s.Exchange.Access == backend.OpenUnit:
		what := strings.TrimSuffix(s.Command, ".open")
		return fmt.Sprintf("c%d's %s opened a new %s at %s, though it had one", d.c, op, what, stepWord(d.at))
	case s.Exchange.Aborted:
		return fmt.Sprintf("c%d's %s sent %s at %s, and the refusal closed its channel%s", d.c, op, d.exchange(d.at), stepWord(d.at), d.unasked(began))
	}
	return fmt.Sprintf("c%d's %s sent more than it needs, up to %s at %s: %s", d.c, op, d.exchange(d.at), stepWord(d.at), d.v.Detail)
}

// unasked adds that a client declared a queue without first checking whether another client owns it; "" if it checked.
func (d *causer) unasked(began int) string {
	s := &d.Steps[d.at]
	if !claims(s) {
		return ""
	}
	same := func(o *scenario.TraceStep) bool { return o.Exchange.Key == s.Exchange.Key }
	if d.last(began, d.at-1, d.c, same) >= 0 {
		return ""
	}
	return fmt.Sprintf(": it had not asked before whether somebody has %s", d.queue(d.at))
}

// forbidden names a command that the client may not send, and its step.
func (d *causer) forbidden() string {
	if !d.sent(d.at, d.c) {
		return ""
	}
	if d.v.Property == property.NameSafety {
		return d.collides()
	}
	return fmt.Sprintf("c%d sent %s at %s, which a driver that can only declare, delete and publish does not have", d.c, d.exchange(d.at), stepWord(d.at))
}

// collides describes a name clash: the same queue name is used by the client's lock and by another lock. It says what
// the name means for each.
func (d *causer) collides() string {
	s := &d.Steps[d.at]
	own := int(d.Scenario.Clients[d.c-1].Lock)
	is := func(l int) string {
		name := style.Printable(d.Scenario.Locks[l].Name)
		x := &s.Exchange
		switch {
		case s.Resource == d.Scenario.Locks[l].Name:
			return fmt.Sprintf("the name of lock %s itself", name)
		case !x.Known || int(x.Lock) != l || x.Role == backend.Mutex:
			return fmt.Sprintf("a name of lock %s", name)
		case x.Role == backend.AdminMutex:
			return fmt.Sprintf("the administration mutex of lock %s", name)
		case x.Role == backend.Holder:
			return fmt.Sprintf("the holder of slot %d of lock %s", x.Slot, name)
		}
		return fmt.Sprintf("slot %d of lock %s", x.Slot, name)
	}
	others := make([]string, 0, len(d.Scenario.Locks))
	for l := range d.Scenario.Locks {
		if l != own {
			others = append(others, is(l))
		}
	}
	if len(others) != 1 { // several locks may use the name, and it is unknown which
		others = []string{"a name of another lock"}
	}
	return fmt.Sprintf("one name has two meanings: at %s c%d uses %s as %s (%s), and it is %s as well", stepWord(d.at), d.c, style.Printable(s.Resource), is(own), d.exchange(d.at), others[0])
}
