package linear

import (
	"github.com/anishathalye/porcupine"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// Specification is the sequential specification of one lock of a history, in porcupine's form.
//
// The lock has C slots, numbered 1 to C without a hole, each free or held by one client. The only slot of a mutex
// always exists. An operation takes effect at moments between its invocation and its answer:
//
//   - acquire, ok: at one moment the slot exists and is free; from then on the client holds it.
//   - acquire, full: under strong semantics, at one moment every existing slot is held. Under weak semantics, each slot
//     is held or missing at some moment.
//   - acquire, gave up or failed for another reason: no effect, and no condition.
//   - acquire, withdrawn: at three moments, in this order: the slot is free and the client takes it; the slot does not
//     exist; the client returns it. In between others see it held.
//   - verify, held: at one moment the slot exists and the client holds it.
//   - verify, removed: at two moments, in this order: the slot does not exist; the client gives it up. If the client
//     may have lost it before, there is no condition. "Not held" because of a lost connection or a timeout counts as no
//     answer. After "not held" without a reason, the client may have given the slot up or not.
//   - release, ok: the client returns the slot. If it may have lost it before, nothing happens. A client may also
//     verify and release a slot that only its own unanswered acquire can have taken. If any client may release
//     ([ByAnyone]), some client holds the slot at one moment, and the slot is free from then on. Permits of the
//     releasing client go first.
//   - count: at one moment the lock has that number of slots.
//   - wait: at one moment the slot is free.
//   - add and remove: a slot is added, or removed if there is one, as often as the argument says.
//   - create: for i from 1 to n, slot i is added if there are i-1 slots.
//   - destroy: a slot is removed, until there is none. Each step of these operations has its own moment.
//
// A failed operation has no effect. An unanswered operation may take effect at any moment since its invocation, in part
// (an administrative one up to any step), or never. An unanswered verify may give its slot up, but not before a moment
// at which the slot does not exist. An unanswered acquire may take any one slot, or the one that its completion names.
// If slots are removed, it may return its slot at any moment, since it may have noticed the removal.
//
// Events of the nemesis bound these moments. A process is one connection of a client; a client that reconnects
// continues as another process. When a connection ends ([history.Gone]; [history.Restart] ends all), its slots become
// free and its unanswered operations cannot happen any more. But a client that was alive then, and did not give up for
// that reason, may have continued its acquire on another connection. A crash alone frees nothing, since the broker has
// not noticed it. If an acquire says ok after the connection of its process has ended, the slot was granted before that
// end or on another connection. The slot may be lost at any moment from then on. Another process may then verify or
// release that slot without an acquire of its own.
//
// If Gone is recorded late ([history.History.GoneLate]), a crashed client may lose each slot at any moment from its
// crash on. Its operations may take effect until it is gone, but it holds nothing from then on.
//
// If the design of the lock is not known ([history.History.GoneMayFree]), a process is a client. When one of its
// connections ends, or all do, its slots may be lost at any moment from then on, or not; its unanswered operations may
// still take effect. An unanswered acquire may lose its slot at any moment since its invocation. After a verify that
// said neither held nor removed, the client may lose its slot at any moment since that invocation. An unanswered verify
// may also have reclaimed the slot. A verify that says held after such a possible loss has one moment at which the slot
// exists, and the client holds it or takes it while it is free. From then on the client does not lose it until another
// connection ends.
//
// A lease ends at a moment of the server's clock ([history.Lapse]). This end frees nothing by itself: from then on its
// client's slot may be lost at any moment, as after the end of a connection. A refresh is a verify. With leases, a
// process is a client, and [history.History.GoneMayFree] is set.
//
// A history without any such evidence does not record the ends of connections. The slot of an unanswered acquire may
// then be lost at any moment. A client that crashed, or was told that its connection is lost, may lose its slots at
// any moment since its last answer. A client whose verify has no answer, or timed out, may lose them at any moment
// since its invocation. Another operation without an answer says nothing about its client's other slots.
//
// If acquires name no slot ([history.AnySlot]), the permits are all alike. An acquire, ok, takes one if one is left,
// and a release returns one of the client's own. An acquire cannot have seen each of several permits taken: under weak
// semantics, full then says nothing.
type Specification struct {
	r             *normaliser
	failedAcquire property.FailedAcquire
	atomicSteps   []atomicStep
	ticks         ticks
	mixed         bool    // administrative operations overlap, so their results are uncertain
	stages        int     // number of calls whose progress is a part of the state
	stage         []int32 // by call: the index of its stage in a state; or none
	cuts          []cut
}

// Specify returns the specification of one lock of a history. The error is a [*Malformed].
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

// cutSize is the smallest number of events between two cuts of a history.
const cutSize = 32

// decomposed returns the specification in its plain form: without the tightened intervals and the cuts that make it
// easier to check.
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

// Operations are the operations of the history for porcupine, each split into atomic steps. An atomic step takes effect
// at one moment.
func (p *Specification) Operations() []porcupine.Operation {
	ops := make([]porcupine.Operation, len(p.atomicSteps))
	for i := range p.atomicSteps {
		u := &p.atomicSteps[i]
		ops[i] = porcupine.Operation{ClientId: p.row(u), Input: u, Output: u, Call: u.from, Return: u.to}
	}
	return ops
}

// Model is the sequential specification as a porcupine model. Its operations are those of Operations.
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

// Check decides whether the history is linearizable within a number of steps, and returns the number of steps left. It
// does not look at a clock, and checks one part after the other. Its result is therefore the same on every machine.
func (p *Specification) Check(steps int) (d Decision, left int) {
	for _, part := range p.partition(p.Operations()) {
		if d = p.linearize(part, &steps); d != Legal {
			return d, steps
		}
	}
	return Legal, steps
}
