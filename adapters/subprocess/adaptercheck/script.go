package adaptercheck

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/model/lock"
)

// line is a call of the script and its expected result.
type line struct {
	client int
	op     lock.Op
	params foreign.Params
	held   bool
	slots  uint8   // expected result, for count
	after  lock.Op // operation whose effect is checked; the call is left out if the client does not offer it; or NoOp
	more   bool    // make the call only if locks are not created before use and callers state limits
	advice string
}

func (l *line) words() string {
	switch l.op {
	case lock.Create, lock.Add, lock.Remove:
		return fmt.Sprintf("%s %s, slots %d", l.op, l.params.Name, l.params.Slots)
	case lock.Acquire:
		if l.params.Timeout > 0 {
			return fmt.Sprintf("%s %s, timeout %d", l.op, l.params.Name, l.params.Timeout.Milliseconds())
		}
		if l.params.Limit > 0 {
			return fmt.Sprintf("%s %s, limit %d", l.op, l.params.Name, l.params.Limit)
		}
		if l.params.Lease > 0 {
			return fmt.Sprintf("%s %s, ttl %d", l.op, l.params.Name, l.params.Lease.Milliseconds())
		}
	case lock.Verify, lock.Release, lock.Wait:
		return fmt.Sprintf("%s %s, slot %d", l.op, l.params.Name, l.params.Slot)
	case lock.Refresh:
		return fmt.Sprintf("%s %s, ttl %d", subprocess.MethodOf(l.op), l.params.Name, l.params.Lease.Milliseconds())
	}
	return fmt.Sprintf("%s %s", l.op, l.params.Name)
}

// fits reports whether slot is the expected slot of a granted acquire. If any is true, every slot number is right,
// since locks have no slots.
func (l *line) fits(slot uint8, any bool) bool {
	return (slot > 0) == l.held && (slot <= 1 || any)
}

func (l *line) expected() string {
	switch {
	case l.op == lock.Acquire && l.held:
		return `{"held":true,"slot":1}`
	case l.op == lock.Acquire || l.op.AsksHeld():
		return fmt.Sprintf(`{"held":%v}`, l.held)
	case l.op == lock.Count:
		return fmt.Sprintf(`{"slots":%d}`, l.slots)
	}
	return "{}"
}

// fencing is the advice for fencing tokens that do not grow, or are missing.
const fencing = `initialize has said "tokens":true: answer with a number that is larger than that of every grant of the lock before, ` +
	"by whichever client; keep it at the broker"

const name = "jobs"

var (
	named = foreign.Params{Name: name}
	one   = foreign.Params{Name: name, Slots: 1}
	first = foreign.Params{Name: name, Slot: 1}
	soon  = foreign.Params{Name: name, Timeout: 250 * time.Millisecond}
	two   = foreign.Params{Name: name, Limit: 2}
)

// opening are the calls up to the first client's first grant.
var opening = []line{
	{client: 1, op: lock.Create, params: one, advice: "make the lock with so many slots, and answer {} when the broker has them"},
	{client: 1, op: lock.Count, params: named, slots: 1, advice: "count the slots that there are at the broker, held or not"},
	{client: 1, op: lock.Acquire, params: named, held: true, advice: "the only slot is free: take it, and answer with its number, counted from 1"},
	{client: 1, op: lock.Verify, params: first, held: true, advice: "this client has just acquired the slot, and its connection is up"},
	{client: 1, op: lock.Refresh, params: first, held: true, advice: "this client holds the lock: have its lease last for that long from now on"},
}

// contest are the calls with which the second client competes with the first.
var contest = []line{
	{client: 2, op: lock.Acquire, params: named, advice: "c1 holds the only slot: answer {\"held\":false}, which is no error"},
	{client: 2, op: lock.Acquire, params: soon, advice: "c1 holds the only slot: answer {\"held\":false} when the time is up"},
	{client: 2, op: lock.Verify, params: first, advice: "c1 holds the slot, c2 does not: that the slot exists is not enough"},
	{client: 2, op: lock.Refresh, params: first, advice: "c1 holds the lock, c2 does not: answer {\"held\":false}, and leave c1's lease as it is"},
	{client: 2, op: lock.Acquire, params: two, held: true, more: true, advice: "c1 holds the lock, and c2 states that two may: any slot's number will do"},
	{client: 2, op: lock.Release, params: first, more: true, advice: "give the lock back, and answer {} when the broker has it"},
	{client: 1, op: lock.Release, params: first, advice: "give the slot back, and answer {} when the broker has it"},
	{client: 2, op: lock.Acquire, params: named, held: true, after: lock.Release, advice: "c1 has released the slot: it is free (does release delete the holder's queue, or only close a channel?)"},
	{client: 2, op: lock.Release, params: first, advice: "give the slot back, and answer {} when the broker has it"},
	{client: 1, op: lock.Add, params: one, advice: "make so many slots more"},
	{client: 1, op: lock.Count, params: named, slots: 2, after: lock.Add, advice: "one slot was added to one"},
	{client: 1, op: lock.Remove, params: one, advice: "take away so many slots, the last ones"},
	{client: 1, op: lock.Count, params: named, slots: 1, after: lock.Remove, advice: "one slot was removed from two"},
	{client: 1, op: lock.Wait, params: foreign.Params{Name: name, Slot: 2}, advice: "nobody holds slot 2: there is nothing to wait for"},
	{client: 1, op: lock.Acquire, params: named, held: true, after: lock.Release, advice: "slot 1 is free again"},
}

// closing are the calls of the second client after the first client has ended.
var closing = []line{
	{client: 2, op: lock.Acquire, params: named, held: true, advice: "c1 has ended and its connection with it: the slot is free (is the holder's queue exclusive?)"},
	{client: 2, op: lock.Release, params: first, advice: "give the slot back, and answer {} when the broker has it"},
	{client: 2, op: lock.Destroy, params: named, advice: "take away all slots"},
	{client: 2, op: lock.Count, params: named, slots: 0, after: lock.Destroy, advice: "the lock was destroyed: it has no slots"},
}

// walk makes the calls of the script, one after the other.
func (w *walk) walk() {
	c1, c2 := w.clients[0], w.clients[1]
	steps := []func(){func() { w.begin(c1) }}
	say := func(lines []line) {
		for _, l := range lines {
			if (l.op == lock.Refresh || slices.Contains(w.Kind.Operations(), l.op)) && (w.Kind == lock.Semaphore || l.slots <= 1 && l.params.Slot <= 1) {
				steps = append(steps, func() { w.call(l) })
			}
		}
	}
	say(opening)
	steps = append(steps, func() { w.connected(c1) }, func() { w.begin(c2) })
	say(contest)
	steps = append(steps, func() { w.end(c1) }, w.server.lapse)
	say(closing)
	steps = append(steps, func() { w.unknown(c2) }, func() { w.end(c2) })
	for _, step := range steps {
		if w.lost || w.ctx.Err() != nil {
			return
		}
		step()
	}
}
