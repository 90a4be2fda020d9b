package draw

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Cause explains a violation in one sentence, from the steps of the execution alone: which reply a client received at
// which step, and what it concluded. If the steps do not explain the violation, it is the violation's own text.
func Cause(t *scenario.Trace, v scenario.Violation) string {
	if d, is := outside(t, v); is && ofBelief.Has(v.Property) {
		if said := d.believed(); said != "" {
			return sentence(said)
		}
	}
	c := causerOf(t, v)
	if c == nil {
		return sentence(v.Explain())
	}
	cause := c.cause
	if t.Scenario.Server != "" {
		cause = c.elsewhere
	}
	if said := cause(); said != "" {
		return sentence(said)
	}
	return sentence(v.Explain())
}

// causerOf makes the causer for a violation, with the step that decided it; nil if the server's state is not known.
func causerOf(t *scenario.Trace, v scenario.Violation) *causer {
	d, known := deciderOf(t, v)
	if !known {
		return nil
	}
	c := &causer{decider: d, at: d.shows, c: d.client()}
	if decided := Decision(t, v); decided > 0 {
		c.at = decided - 1
	}
	return c
}

// sentence makes text safe to show, and ends it with a full stop if it has none.
func sentence(text string) string {
	text = style.Printable(text)
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// causer writes the cause of a violation as a sentence.
type causer struct {
	decider
	at int // the step that decided the violation, from 0
	c  int // the client of the violation
}

func (d *causer) cause() string {
	switch d.v.Property {
	case property.MutualExclusion, property.NoFalseHold:
		return d.heldTwice()
	case property.Linearizable:
		return d.wrongAnswer()
	case property.HonestVerify, property.StaleBeliefEnds:
		return d.wrongVerify()
	case property.NoPhantomSlot:
		return d.phantom()
	case property.ContiguousSlots:
		return d.holes()
	case property.ExactCount:
		return d.miscounted()
	case property.AdminExclusion:
		return d.twoAdministrators()
	case property.RemovalDrains:
		return d.removed()
	case property.EffectiveRelease:
		return d.unreleased()
	case property.CrashFrees, property.SurvivesRestart:
		return d.outlived()
	case property.NoLeak:
		return d.leaked()
	case property.Progress:
		return d.stuck()
	case property.CheapAcquire, property.CheapVerify:
		return d.wasteful()
	case property.MinimalDriver, property.NameSafety:
		return d.forbidden()
	}
	return ""
}

// elsewhere writes the cause for a server other than an AMQP broker. It knows only the text of the server's commands.
func (d *causer) elsewhere() string {
	s := &d.Steps[d.at]
	c, other := int(s.Action.Client), int(d.v.Other)
	if d.v.Property != property.MutualExclusion || c == 0 || command(s) == "" {
		return ""
	}
	if c == other {
		other = d.c
	}
	did := "went on as holder after"
	if s.Exchange.Access == backend.Create && s.Exchange.Result == backend.Done {
		did = "was granted " + d.lock() + " at"
	}
	return fmt.Sprintf("c%d %s %s (%s)%s", c, did, stepWord(d.at), d.exchange(d.at), d.while(c, other))
}

// Parts of the sentences about a cause.

// lock names what the violation is about: "slot 1", or "the lock".
func (d *causer) lock() string { return property.SlotName(d.History.Kind, int(d.v.Slot)) }

// stepWord names a step, given by its index: step 0 is "step 1".
func stepWord(i int) string { return fmt.Sprintf("step %d", i+1) }

// exchange describes the command and the reply of a step: "declare jobs-1-B exclusive → ok".
func (d *causer) exchange(i int) string {
	s := &d.Steps[i]
	words := command(s)
	if reply := d.reply(i); words != "" && reply != "" {
		words += " → " + reply
	}
	if s.Action.Kind == scenario.Lose {
		words += ", which did not reach it"
	}
	return words
}

// sent reports whether a client sent a command in a step.
func (d *causer) sent(i, c int) bool {
	s := &d.Steps[i]
	return int(s.Action.Client) == c && (s.Command != "")
}

// queue is the name of the queue that a step's command concerns.
func (d *causer) queue(i int) string { return d.Steps[i].Resource }

// reply is the reply to a step's command.
func (d *causer) reply(i int) string { return style.Printable(d.Steps[i].Reply) }

// events are the history's events of one client in one step.
func (d *decider) events(i, c int) (of []history.Event) {
	s := &d.Steps[i]
	for _, e := range d.History.Events[s.First : s.First+s.Events] {
		if e.Process > 0 && clientOf(e, d.Clients()) == c {
			of = append(of, e)
		}
	}
	return of
}

// told finds the last answer that a client got up to a step, and the step at which it got it; -1 if there is none.
func (d *causer) told(upTo, c int) (answer history.Event, at int) {
	for i := upTo; i >= 0; i-- {
		for _, e := range d.events(i, c) {
			if e.Type != history.Invoke {
				answer, at = e, i
			}
		}
		if answer.Process > 0 {
			return answer, at
		}
	}
	return answer, -1
}

// said describes the result of a call, such as "said full".
func (d *causer) said(e history.Event) string {
	words := completionWords(e, d.History.Kind)
	switch {
	case e.F.Op() == lock.Acquire && e.Held:
		return "went on as holder"
	case e.Type == history.Info:
		return "ended without an answer (" + strings.TrimPrefix(words, "unknown: ") + ")"
	}
	return fmt.Sprintf("said %q", words)
}

// call describes the client's latest operation at a step, and returns the step at which it began.
func (d *causer) call(upTo, c int) (op string, began int) {
	for i := upTo; i >= 0; i-- {
		for _, e := range d.events(i, c) {
			if e.Type == history.Invoke {
				op, began = invocationWords(e, d.History.Kind), i
			}
		}
		if op != "" {
			return op, began
		}
	}
	return "", -1
}

// asked lists the queues about which a call asked the broker, such as "for jobs-1-A only".
func (d *causer) asked(from, to, c int) string {
	var queues []string
	for i := max(0, from); i <= to; i++ {
		if d.sent(i, c) && d.queue(i) != "" {
			if n := len(queues); n == 0 || queues[n-1] != d.queue(i) {
				queues = append(queues, d.queue(i))
			}
		}
	}
	switch n := len(queues); {
	case n == 0 && d.lastSent(from, to, c) >= 0:
		return "for no queue"
	case n == 0:
		return "the broker nothing"
	case n > 4:
		return fmt.Sprintf("for %s, %s and so on up to %s", queues[0], queues[1], queues[n-1])
	case n > 1:
		return "for " + joined(queues, "and")
	}
	return "for " + queues[0] + " only"
}

// lastSent is the step of a client's last command in a range, or -1.
func (d *causer) lastSent(from, to, c int) int {
	for i := to; i >= max(0, from); i-- {
		if d.sent(i, c) {
			return i
		}
	}
	return -1
}

// slots writes a set of slots in words, for example "slots 1 and 3" or "no slot".
func slots(set uint16) string {
	switch numbers := numbersOf(set); len(numbers) {
	case 0:
		return "no slot"
	case 1:
		return "slot " + numbers[0]
	default:
		return "slots " + joined(numbers, "and")
	}
}

// anySlot says "slot", with the numbers of a set joined by "or".
func anySlot(set uint16) string { return "slot " + joined(numbersOf(set), "or") }

// wereFree says that some slots were free. For a lock without slots it says that the lock was free.
func (d *causer) wereFree(set uint16) string {
	switch {
	case d.History.Kind != lock.Semaphore:
		return "it was free"
	case bits.OnesCount16(set) == 1:
		return slots(set) + " was free"
	}
	return slots(set) + " were free"
}

func numbersOf(set uint16) (numbers []string) {
	for s := 1; s <= monitor.Slots; s++ {
		if set>>s&1 == 1 {
			numbers = append(numbers, fmt.Sprint(s))
		}
	}
	return numbers
}

// joined lists words with commas, and with another word, such as "and", before the last one.
func joined(words []string, last string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}

// before is the broker's state of the lock before a step.
func (d *causer) before(i int) *monitor.Truth {
	if i > 0 {
		return d.truth(i - 1)
	}
	return &d.Setup[len(d.Setup)-1].Truth[d.v.Lock]
}

// cut says at which step a client's connection ended, up to a step; "" if it did not end.
func (d *causer) cut(upTo, c int) string {
	for i := upTo; i >= 0; i-- {
		switch a := d.Steps[i].Action; {
		case a.Kind == scenario.Restart, a.Kind == scenario.Drop && int(a.Client) == c:
			return fmt.Sprintf("its connection had ended at %s, and what it held with it", stepWord(i))
		}
	}
	return ""
}
