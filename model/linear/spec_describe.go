package linear

import (
	"fmt"

	"github.com/lockproof/lockproof/model/property"
)

var doFormats = map[do]string{
	doTake: "acquire: %s", doMayTake: "acquire, unanswered: %s?", doClaim: "acquire: claims %s",
	doMiss: "%s is gone", doGive: "gives %s up", doFree: "release: %s", doFreeAny: "release: %s, whoever has it", doFreeOwn: "release: %s",
	doLose: "%s may be lost", doBusy: "%s is taken or gone", doHeld: "verify: holds %s",
	doHeldOwn: "verify: holds %s", doVacant: "wait: nobody has %s", doEnd: "connection gone: %s",
}

// describe says in words what an atomic step does and for which client, for example that every slot is taken.
func (p *Specification) describe(u *atomicStep) string {
	if format, ok := doFormats[u.do]; ok {
		return p.whose(u) + fmt.Sprintf(format, p.r.h.SlotName(uint16(u.slot)))
	}
	what := ""
	switch u.do {
	case doFull:
		what = property.ForKind(p.r.h.Kind, "full: every slot is taken", "it is taken")
	case doCount:
		what = property.ForKind(p.r.h.Kind, fmt.Sprintf("count: %d slots", u.n), fmt.Sprintf("count: %d", u.n))
	case doSet:
		return "the state so far"
	case doStop:
		what = "connection gone: no more steps"
	case doFail:
		what = fmt.Sprintf("%s of %s, which it did not have", p.r.operation(&p.r.calls[u.op]), p.r.h.SlotName(uint16(u.slot)))
	default:
		what = fmt.Sprintf("%s: step %d", p.r.operation(&p.r.calls[u.op]), u.at+1)
	}
	return p.whose(u) + what
}

// whose names the client of an atomic step, in words.
func (p *Specification) whose(u *atomicStep) string {
	if u.client == none {
		return ""
	}
	return p.r.h.Who(p.r.clients.list[u.client].process) + " "
}
