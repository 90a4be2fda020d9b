package spec

import (
	"fmt"
	"html"
	"strings"
)

// What porcupine is told of operations and states reaches the page as HTML.

var doFormats = map[do]string{
	doTake: "acquire: slot %d", doMayTake: "acquire, unanswered: slot %d?", doClaim: "acquire: claims slot %d",
	doMiss: "slot %d is gone", doGive: "gives slot %d up", doFree: "release: slot %d", doFreeAny: "release: slot %d, whoever has it", doFreeOwn: "release: slot %d",
	doLose: "slot %d may be lost", doBusy: "full: slot %d is taken or gone", doHeld: "verify: holds slot %d",
	doHeldOwn: "verify: holds slot %d", doVacant: "wait: nobody has slot %d", doEnd: "connection gone: slot %d",
}

// describe says what a unit does.
func (p *Specification) describe(u *unit) string {
	if format, ok := doFormats[u.do]; ok {
		return html.EscapeString(p.whose(u) + fmt.Sprintf(format, u.slot))
	}
	what := ""
	switch u.do {
	case doFull:
		what = "full: every slot is taken"
	case doCount:
		what = fmt.Sprintf("count: %d slots", u.n)
	case doSet:
		return "the state so far: " + p.describeState(*u.set)
	case doStop:
		what = "connection gone: no more steps"
	case doFail:
		what = fmt.Sprintf("%s of slot %d, which it did not have", p.r.operation(&p.r.calls[u.call]), u.slot)
	default:
		what = fmt.Sprintf("%s: step %d", p.r.operation(&p.r.calls[u.call]), u.at+1)
	}
	return html.EscapeString(p.whose(u) + what)
}

// whose names the client of a unit.
func (p *Specification) whose(u *unit) string {
	if u.client == none {
		return ""
	}
	return p.r.h.who(p.r.clients.list[u.client].process) + " "
}

// describeState says who holds what.
func (p *Specification) describeState(s lockState) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d slots", s.slots)
	for slot := 1; slot <= len(s.holders)/holderSize; slot++ {
		if k := s.holder(slot); k != none {
			fmt.Fprintf(&b, ", %d: %s", slot, p.r.who(&p.r.calls[k]))
		}
	}
	return html.EscapeString(b.String())
}
