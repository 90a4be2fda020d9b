package linear

import (
	"github.com/anishathalye/porcupine"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// Specification is what one lock of a history has to be a linearizable history of, in the form that
// porcupine takes.
//
// The lock has a number C of slots, numbered 1 to C without a hole, each held by nobody or by one
// client. The only slot of a mutex always exists. An operation has its effect at moments between its
// invocation and its answer:
//
//   - acquire, ok: at one moment the slot exists and nobody holds it; from then on the client does.
//   - acquire, full: strong semantics, at one moment every slot that exists is held; weak ones, each slot is
//     held or does not exist at some moment.
//   - acquire, gave up or failed for another reason: nothing. Others may have held every slot or not.
//   - acquire, withdrawn: at three moments, in this order, nobody holds the slot and the client takes
//     it; the slot does not exist; the client gives it back. In between others see it held.
//   - verify, held: at one moment the slot exists and the client holds it.
//   - verify, removed: at two moments, in this order, the slot does not exist; the client gives it
//     up. Where it may have lost it before, nothing is asked. A no for want of a connection, or for
//     want of time, is a verify without an answer; after a no without a reason the slot may be given
//     up or not.
//   - release, ok: the client gives the slot back. Where it may have lost it before, nothing happens.
//     A client may also verify and release what only an unanswered acquire of its own can have taken.
//     Where anyone may release ([ByAnyone]), at one moment somebody holds the slot, and nobody does from
//     then on; of permits, the client's own go first.
//   - count: at one moment there are so many slots. wait: at one moment nobody holds the slot.
//   - add and remove: so many times, one slot more or one less, if there is one. create: for i from 1
//     to n, slot i is added if there are i-1. destroy: one less, until there is none. Each step has
//     its own moment: administration is not atomic.
//
// An operation that failed had no effect. One without an answer may have its effect at any moment
// from its invocation on, in part (an administrative one up to any step), or never. So may a verify
// give up its slot, but not before a moment at which the slot does not exist. An acquire may
// take any one slot, or the one that its end names; where slots are removed, it may give it back at
// any moment, as it may have seen it gone.
//
// Evidence bounds that. A process is one connection of a client, which goes on as another process if
// it connects anew. When the connection ends ([Gone]; [Restart] ends all), the slots that it has are
// free at that moment, and what was asked for on it and not answered cannot happen any more; but if
// its client was alive then and is not known to have given up for that reason, its acquire may have
// gone on on another connection. A crash alone frees nothing: the broker has not noticed. An acquire that is answered with yes after its
// process's connection has ended was granted before that, or on another connection: what it was
// granted may be lost at any moment from then on, and whoever verifies or releases that slot without
// an acquire of their own is believed.
//
// Where Gone is recorded late ([History.GoneLate]), a client that crashed before may lose each slot at any
// moment from its crash on, and what it had asked for may happen until it is gone: but it has nothing
// from then on.
//
// Where the design of the lock is not known ([History.GoneMayFree]), a process is a client. When one of its
// connections ends, or all do, what it has may be lost at any moment from then on, and need not be; what it had
// asked for may still happen. Likewise, from its invocation on, what an unanswered acquire took, and what a
// verify was about that said neither held nor removed; one without an answer may have taken it anew. A verify that says held
// after that: at one moment the slot exists, and the client holds it or takes it, as nobody does. It loses it no
// more, until another connection ends.
//
// A lease ends at a moment of the server's clock ([Lapse]), and frees nothing by itself: from then on what its client has may
// be lost at any moment, as when one of its connections ends. A refresh is a verify. Where holds are leases, a process is a
// client, and [History.GoneMayFree] is set.
//
// A history without any such evidence does not tell when connections ended. In it, what an
// unanswered acquire took may be lost at any moment; what a client was granted that crashed, or was
// told that its connection is lost, at any moment since the last answer that it had; and what one was
// granted that was left without an answer, or timed out, at any moment since it called that operation.
//
// Where acquires name no slot ([AnySlot]), there are permits that are all alike: acquire, ok takes one
// if there is one left, and release gives one of the client's own back. With several, nobody can say
// that each was seen taken: under the weak semantics, full says nothing.
type Specification struct {
	r             *normaliser
	failedAcquire property.FailedAcquire
	atomicSteps   []atomicStep
	ticks         ticks
	mixed         bool    // administrative operations overlap
	stages        int     // calls that have a stage
	stage         []int32 // by call: its place among them; or none
	cuts          []cut
}

// Specify states what one lock of a history has to satisfy. The history must be well-formed.
func Specify(h *history.History, lock int, o Options) (*Specification, error) {
	r := new(normaliser)
	if err := r.normalise(h, lock, o); err != nil {
		return nil, err
	}
	return r.specify(o.FailedAcquire), nil
}

func (r *normaliser) specify(s property.FailedAcquire) *Specification {
	p := r.decomposed(s)
	p.tighten()
	p.cuts = p.cut(cutSize)
	return p
}

// cutSize is how many events there are between cuts, at least.
const cutSize = 32

// decomposed is a specification as it reads, without what makes it easier to check.
func (r *normaliser) decomposed(s property.FailedAcquire) *Specification {
	p := &Specification{r: r, failedAcquire: s, ticks: newTicks(r), mixed: r.mixes()}
	p.number()
	for k := range r.calls {
		p.decompose(int32(k))
	}
	for i, at := range r.at {
		if at < none {
			p.ended(int32(i), at)
		}
	}
	return p
}

// Operations are the history's, decomposed into atomic steps that have their effect at one moment each.
func (p *Specification) Operations() []porcupine.Operation {
	ops := make([]porcupine.Operation, len(p.atomicSteps))
	for i := range p.atomicSteps {
		u := &p.atomicSteps[i]
		ops[i] = porcupine.Operation{ClientId: p.row(u), Input: u, Output: u, Call: u.from, Return: u.to}
	}
	return ops
}

// Model is the sequential specification of those operations.
func (p *Specification) Model() porcupine.Model {
	return porcupine.Model{
		Partition: p.partition,
		Init:      func() any { return p.initial() },
		Step: func(state, input, _ any) (bool, any) {
			next, ok := p.apply(state.(lockState), input.(*atomicStep))
			return ok, next
		},
		DescribeOperation: func(input, _ any) string { return p.describe(input.(*atomicStep)) },
	}
}

// Check decides in so many steps at most, and tells how many are left. It looks at no clock and at one
// part after the other, so that it comes to the same on every machine.
func (p *Specification) Check(steps int) (d Decision, left int) {
	for _, part := range p.partition(p.Operations()) {
		if d = p.linearize(part, &steps); d != Legal {
			return d, steps
		}
	}
	return Legal, steps
}
