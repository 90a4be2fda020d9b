package linear

import (
	"fmt"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// crowd draws a long history of many clients at one semaphore. Some of them get no answer and are replaced. With
// evidence, the history records the later end of their connections.
func crowd(ops, clients, slots int, unanswered float64, evidence bool) *history.History {
	c := drawn.BySeed(1)
	h := &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{slots}}
	h.Events = make([]history.Event, 0, 2*ops+1000)
	type busy struct {
		process int32
		slot    int
		op      lock.Op
		done    bool // it has had its effect
		result  int
	}
	all := make([]busy, clients)
	next := int32(0)
	for i := range all {
		next++
		all[i] = busy{process: next}
	}
	holder := make([]int32, slots+1)
	var dying []int32
	emit := func(e history.Event) { h.Events = append(h.Events, e) }
	effect := func(b *busy) {
		b.done = true
		switch b.op {
		case lock.Acquire:
			b.result = 0
			for s := 1; s <= slots; s++ {
				if holder[s] == 0 {
					holder[s], b.result = b.process, s
					return
				}
			}
		case lock.Release:
			holder[b.slot] = 0
		}
	}
	for n := 0; n < ops || len(dying) > 0; {
		if len(dying) > 0 && (c.Below(200) == 0 || n >= ops) {
			p := dying[0]
			dying = dying[1:]
			for s := range holder {
				if holder[s] == p {
					holder[s] = 0
				}
			}
			if evidence {
				emit(history.Event{Process: history.Nemesis, Type: history.Info, F: history.Gone, Target: p})
			}
		}
		b := &all[c.Below(clients)]
		switch {
		case b.op == lock.NoOp && n < ops:
			n++
			b.op, b.done = lock.Acquire, false
			if b.slot > 0 {
				b.op = []lock.Op{lock.Release, lock.Verify}[c.Below(2)]
			}
			emit(history.Event{Process: b.process, Type: history.Invoke, F: history.F(b.op), Slot: uint16(b.slot)})
		case b.op == lock.NoOp:
		case !b.done:
			effect(b)
		case c.Float64() < unanswered:
			if evidence {
				emit(history.Event{Process: history.Nemesis, Type: history.Info, F: history.Crash, Target: b.process})
			}
			dying = append(dying, b.process)
			next++
			*b = busy{process: next}
		default:
			e := history.Event{Process: b.process, Type: history.OK, F: history.F(b.op), Slot: uint16(b.slot), Held: b.op == lock.Verify}
			switch {
			case b.op == lock.Release:
				b.slot = 0
			case b.op == lock.Acquire && b.result > 0:
				b.slot = b.result
				e.Slot, e.Held = uint16(b.slot), true
			case b.op == lock.Acquire:
				e.Type, e.Reason = history.Fail, lock.Full
			}
			b.op = lock.NoOp
			emit(e)
		}
	}
	return h
}

func BenchmarkCrowd(b *testing.B) {
	const ops = 1_000_000
	for _, unanswered := range []float64{0, 0.01} {
		for _, evidence := range []bool{true, false} {
			for s := property.Weak; s <= property.Strong; s++ {
				if unanswered == 0 && !evidence || s == property.Strong && !evidence { // the first has some; the second is too large to decide
					continue
				}
				h := crowd(ops, 30, 8, unanswered, evidence)
				b.Run(fmt.Sprintf("unanswered=%v%%/evidence=%v/%s", 100*unanswered, evidence, s), func(b *testing.B) {
					var c Checker
					b.ReportAllocs()
					for b.Loop() {
						if f := c.Linearizable(h, Options{FailedAcquire: s}); f.Decision != Legal {
							b.Fatalf("%+v", f)
						}
					}
					b.ReportMetric(float64(b.N)*ops/b.Elapsed().Seconds()/1e6, "Mops/s")
				})
			}
		}
	}
}

func BenchmarkSmall(b *testing.B) {
	choose := drawn.BySeed(1)
	var all []*history.History
	operations := 0
	for len(all) < 1000 {
		d := drawn.Any(choose)
		d.Steps, d.Corrupts, d.Unnamed = 60, 0, false
		if h := drawn.History(choose, d); Validate(h) == nil {
			all = append(all, h)
			operations += len(h.Events) / 2
		}
	}
	var c Checker
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h := all[i%len(all)]
		i++
		if err := c.normaliser.normalise(h, 0, Options{}); err != nil {
			b.Fatal(err)
		}
		if f := c.fast(Options{}); f.Decision == Illegal {
			b.Fatalf("%+v", f)
		}
	}
	b.ReportMetric(float64(operations)/float64(len(all)), "ops/history")
}
