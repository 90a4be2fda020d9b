package linear

import (
	"fmt"
	"github.com/lockproof/lockproof/model/property"
	"html"
	"strings"
)

// What porcupine is told of operations and states reaches the page as HTML.

var doFormats = map[do]string{
	doTake: "acquire: %s", doMayTake: "acquire, unanswered: %s?", doClaim: "acquire: claims %s",
	doMiss: "%s is gone", doGive: "gives %s up", doFree: "release: %s", doFreeAny: "release: %s, whoever has it", doFreeOwn: "release: %s",
	doLose: "%s may be lost", doBusy: "%s is taken or gone", doHeld: "verify: holds %s",
	doHeldOwn: "verify: holds %s", doVacant: "wait: nobody has %s", doEnd: "connection gone: %s",
}

// describe says what an atomic step does.
func (p *Specification) describe(u *atomicStep) string {
	if format, ok := doFormats[u.do]; ok {
		return html.EscapeString(p.whose(u) + fmt.Sprintf(format, p.r.h.SlotName(uint16(u.slot))))
	}
	what := ""
	switch u.do {
	case doFull:
		what = property.ForKind(p.r.h.Kind, "full: every slot is taken", "it is taken")
	case doCount:
		what = property.ForKind(p.r.h.Kind, fmt.Sprintf("count: %d slots", u.n), fmt.Sprintf("count: %d", u.n))
	case doSet:
		return "the state so far: " + p.describeState(*u.set)
	case doStop:
		what = "connection gone: no more steps"
	case doFail:
		what = fmt.Sprintf("%s of %s, which it did not have", p.r.operation(&p.r.calls[u.op]), p.r.h.SlotName(uint16(u.slot)))
	default:
		what = fmt.Sprintf("%s: step %d", p.r.operation(&p.r.calls[u.op]), u.at+1)
	}
	return html.EscapeString(p.whose(u) + what)
}

// whose names the client of an atomic step.
func (p *Specification) whose(u *atomicStep) string {
	if u.client == none {
		return ""
	}
	return p.r.h.Who(p.r.clients.list[u.client].process) + " "
}

// describeState says who holds what.
func (p *Specification) describeState(s lockState) string {
	var b strings.Builder
	there := "there"
	if s.slots == 0 {
		there = "not there"
	}
	b.WriteString(property.ForKind(p.r.h.Kind, fmt.Sprintf("%d slots", s.slots), there))
	for slot := 1; slot <= len(s.holders)/holderSize; slot++ {
		if k := s.holder(slot); k != none {
			b.WriteString(property.ForKind(p.r.h.Kind, fmt.Sprintf(", %d: ", slot), ", held by ") + p.r.who(&p.r.calls[k]))
		}
	}
	return html.EscapeString(b.String())
}
