package draw

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// The causes of violations by external clients. The server's state is not known: only what the client asked the server,
// and what it concluded from the answers.

// outside makes the causer for a violation in an execution of external clients. A causer writes the cause as a
// sentence.
func outside(t *scenario.Trace, v scenario.Violation) (d *causer, known bool) {
	if len(t.Setup) > 0 || len(t.Steps) == 0 || v.Client == 0 || int(v.Lock) >= len(t.Scenario.Locks) || v.Step >= len(t.Steps) {
		return nil, false
	}
	return &causer{decider: decider{Trace: t, v: v, shows: v.Step}, at: v.Step, c: int(v.Client)}, true
}

// believed says why a client wrongly believes that it holds a slot. It names the request that the client relied on in
// the call that returned this belief.
func (d *causer) believed() string {
	answer, at := d.told(d.shows, d.c)
	op, began := d.call(d.shows, d.c)
	if at != d.shows || op == "" || !answer.Held {
		return ""
	}
	words := d.serverWords()
	did := fmt.Sprintf("c%d's %s asked %s nothing", d.c, op, words.The())
	if last := d.refused(began, at); last >= 0 {
		did = fmt.Sprintf("c%d's %s was refused at %s (%s)", d.c, op, stepWord(last), d.exchange(last))
	} else if last = d.lastSent(began, at, d.c); last >= 0 {
		did = fmt.Sprintf("c%d's %s relied on %s at %s", d.c, op, d.exchange(last), stepWord(last))
	}
	var though []string
	if cut := d.ended(began); cut >= 0 && d.v.Property == property.StaleBeliefEnds {
		though = append(though, "its connection had ended at "+stepWord(cut))
	}
	if other, since := d.holder(answer); other > 0 {
		though = append(though, fmt.Sprintf("c%d had been told so at %s", other, stepWord(since)))
	}
	if len(though) == 0 {
		return ""
	}
	if gave := d.givenAway(began); gave >= 0 {
		did = fmt.Sprintf("c%d's release sent %s at %s, and then %s", d.Steps[gave].Action.Client, d.exchange(gave), stepWord(gave), did)
	}
	return fmt.Sprintf("%s and said at %s that it holds %s, though %s", did, stepWord(at), property.SlotName(d.History.Kind, int(answer.Slot)), joined(though, "and"))
}

// refused is the client's last step in a range at which the server refused its request; -1 if there is none.
func (d *causer) refused(began, at int) int {
	for i := at; i >= max(0, began); i-- {
		if x := &d.Steps[i].Exchange; d.sent(i, d.c) && (x.Result == backend.Refused || x.Result == backend.Denied) {
			return i
		}
	}
	return -1
}

// givenAway is the step of a release that freed another client's hold by mistake, so that the slot was granted twice.
// It is the last such step between the two grants, and -1 if there is none. The execution is assumed to be minimised,
// so that each step that is left has a part in the violation.
func (d *causer) givenAway(began int) int {
	answer, _ := d.told(d.shows, d.c)
	holder, since := d.holder(answer)
	if d.v.Property != property.MutualExclusion || answer.F.Op() != lock.Acquire || holder == 0 {
		return -1
	}
	for i := d.shows; i > since; i-- {
		s := &d.Steps[i]
		c := int(s.Action.Client)
		if c == 0 || c == holder || c == d.c && i >= began || !d.sent(i, c) || s.Exchange.Result != backend.Done || s.Reply == "0" {
			continue
		}
		if op, _ := d.call(i, c); strings.HasPrefix(op, lock.Release.String()) {
			return i
		}
	}
	return -1
}

// serverWords are the words for the execution's kind of server, such as "broker".
func (d *causer) serverWords() lock.Words { return lock.WordsOf(d.Scenario.Target, d.Scenario.Server) }

// ended is the last step, up to the given one, at which the client's connection ended; -1 if there is none.
func (d *causer) ended(before int) int {
	for i := before; i >= 0; i-- {
		if a := d.Steps[i].Action; a.Kind == scenario.Restart || a.Kind == scenario.Drop && int(a.Client) == d.c {
			return i
		}
	}
	return -1
}

// holder finds another client that was told that it holds the same slot, and that has neither lost nor released it
// since. since is the step at which it was told. client is 0 if there is none.
func (d *causer) holder(answer history.Event) (client, since int) {
	held := make(map[int]int)
	for i := 0; i <= d.shows; i++ {
		s := &d.Steps[i]
		for _, e := range d.History.Events[s.First : s.First+s.Events] {
			c := clientOf(e, d.Clients())
			if e.Process == history.Nemesis {
				c = history.ClientOf(e.Target, d.Clients())
			}
			switch {
			case e.F == history.Restart:
				clear(held)
			case e.Process == history.Nemesis || e.F.Op() == lock.Release:
				delete(held, c)
			case e.Lock != answer.Lock || e.Slot != answer.Slot || e.Type == history.Invoke:
			case e.Held && (e.F.Op() == lock.Acquire || e.F.Op() == lock.Verify):
				held[c] = i
			case e.F.Op() == lock.Verify:
				delete(held, c)
			}
		}
	}
	for c := 1; c <= d.Clients(); c++ {
		if at, ok := held[c]; ok && c != d.c {
			return c, at
		}
	}
	return 0, 0
}

// otherBelief says what a correct lock would have answered to a call that wrongly said "you hold the slot".
func (d *causer) otherBelief() string {
	answer, at := d.told(d.shows, d.c)
	op, _ := d.call(d.shows, d.c)
	if at != d.shows || op == "" || !answer.Held || answer.Slot > monitor.Slots {
		return ""
	}
	_, began := d.call(d.shows, d.c)
	if gave := d.givenAway(began); gave >= 0 {
		holder, _ := d.holder(answer)
		return fmt.Sprintf("c%d's release leaves alone what c%d holds", d.Steps[gave].Action.Client, holder)
	}
	if answer.F.Op() == lock.Verify {
		return fmt.Sprintf(`c%d's %s says "not held"`, d.c, op)
	}
	return fmt.Sprintf("c%d's %s%s", d.c, op, property.ForKind(d.History.Kind, " takes another slot, or says that all are taken", " says that somebody has the lock"))
}

// ofBelief are the properties that a client violates by wrongly believing that it holds a slot.
const ofBelief = property.Set(1<<property.MutualExclusion | 1<<property.StaleBeliefEnds)
