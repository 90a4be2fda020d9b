package external

import (
	"fmt"

	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// tokens are the fencing tokens of one lock. Where the design of the lock is known, a grant is after those that had been told
// when the broker gave its client what it holds the lock by, though that had asked earlier: a token that was drawn before
// may come late.
type tokens struct {
	beliefs.Fence
	at [monitor.Slots + 1]beliefs.Fenced // what had been told when the slot became its owner's
}

// claimed takes in that what the broker has of the lock has changed.
func (t *tokens) claimed(old, now *monitor.Truth) {
	for s := range t.at {
		if owner := now.Owner[s] &^ monitor.HalfOpen; owner != 0 && owner != old.Owner[s]&^monitor.HalfOpen {
			t.at[s] = t.Now()
		}
	}
}

// fenced is a client being told a token with the slot that it was granted.
func (r *run) fenced(p *clientState, slot uint8, token int64) {
	p.token = token
	l := r.lockOf(p.id)
	t := &r.tokens[l]
	before := p.fence
	if slot <= monitor.Slots && r.known() && r.truth[l].Owner[slot] == p.id && t.at[slot].Token > before.Token {
		before = t.at[slot]
	}
	if !t.Grant(before, int32(p.id), token) {
		return
	}
	other, why := uint8(0), ""
	if before.Token >= token {
		other = uint8(before.Who)
		why = fmt.Sprintf("was granted %s with token %d, but c%d had been granted one with token %d before",
			r.slotName(slot), token, other, before.Token)
	}
	r.monitor.Fenced(p.id, other, slot, why)
}

// slotName is a slot as people are told of it: messages that stand for slots have no numbers.
func (r *run) slotName(slot uint8) string {
	if r.Numberless() {
		return "a slot"
	}
	return property.SlotName(r.config.Kind, int(slot))
}

// blind are those that were judged without a look at what the broker had, where nobody knows what that means. Where it is
// known, and a broker did something else than was expected, they were not.
func (r *run) blind() property.Set {
	if r.design.Known() {
		return 0
	}
	all := property.Set(property.Announceable)
	if r.asksForFreed() {
		all = all.With(property.CrashFrees)
	}
	if r.asksForRevived() {
		all = all.With(property.SurvivesRestart)
	}
	return all
}

// announced are the properties that the clients announce what it takes for.
func (s *Runner) announced() property.Set {
	return property.ApplicableExternal(s.config.Kind).Announced(s.config.Kind, s.about.Traits())
}

// unannounced is why a property is not judged that the clients would have to announce something for.
func (s *Runner) unannounced(p property.Property) string {
	if !property.Announceable.Has(p) || s.announced().Has(p) {
		return ""
	}
	return "the clients do not announce what it takes: " + announcements[p]
}

// announcements are what clients say in answer to initialize, for a property to be judged.
var announcements = map[property.Property]string{
	property.FencingMonotone: `"tokens":true`, property.LimitRespected: `"limits":true`,
}

// asTheyHappen are those of them that are judged as grants happen, and not when an execution is over.
var asTheyHappen = property.Set(0).With(property.FencingMonotone)
