package search

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestUnnoticed: in every state, a command that the reductions take first changes neither the shared part of the state
// nor the moves of other clients. Its result is the same after any move of another client. A command that publishes a
// message which a queue keeps is never taken first.
func TestUnnoticed(t *testing.T) {
	for name, args := range map[string]amqp.Arguments{
		"probes dropped":  {Has: amqp.HasMaxLength},
		"probes kept":     {},
		"one probe kept":  {Has: amqp.HasMaxLength | amqp.HasOverflow, MaxLength: 1, Overflow: amqp.RejectPublish},
		"probes rejected": {Has: amqp.HasMaxLength | amqp.HasOverflow, Overflow: amqp.RejectPublish},
	} {
		for _, judged := range []property.Set{property.Applicable(lock.Semaphore), 1 << property.MutualExclusion} {
			b := standard(2, 1, 0, 1, 1)
			b.Properties = judged
			b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Arguments, o.Pipeline, o.Retries = args, 0, 0 })
			w := newPlan(b, AllReductions).worker()
			taken := 0
			everywhere(w, func(from []uint32) {
				if c, m := w.unnoticed(from); m != nil {
					taken++
					expectUnnoticed(t, name, w, from, c, *m)
				}
			})
			if taken == 0 {
				t.Errorf("%s: no command is taken before others in any state", name)
			}
		}
	}
}

// everywhere calls come with every state of a search without reductions.
func everywhere(w *worker, come func(t []uint32)) {
	queue := [][]uint32{w.initial()}
	seen := map[uint64]bool{w.fingerprint(queue[0]): true}
	for ; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		come(from)
		for c := 1; c < w.stride; c++ {
			for _, m := range slices.Clone(w.of(from, c)) {
				to := slices.Clone(from)
				w.apply(to, from, c, &m)
				if fp := w.fingerprint(to); !seen[fp] {
					seen[fp], queue = true, append(queue, to)
				}
			}
		}
	}
}

func expectUnnoticed(t *testing.T, name string, w *worker, from []uint32, c int, m move) {
	t.Helper()
	to := slices.Clone(from)
	w.apply(to, from, c, &m)
	if to[0] != from[0] || to[c] == from[c] || m.found != 0 {
		t.Errorf("%s: in %v client %d's %v leads to %v, and violates %b", name, from, c, m.action, to, m.found)
	}
	for d := 1; d < w.stride; d++ {
		if d == c {
			continue
		}
		before := slices.Clone(w.of(from, d))
		if !slices.Equal(before, w.of(to, d)) {
			t.Errorf("%s: in %v client %d's %v changes what client %d can do", name, from, c, m.action, d)
		}
		for i := range before {
			other := slices.Clone(from)
			w.apply(other, from, d, &before[i])
			again := w.of(other, c)[0]
			again.action.Client = m.action.Client // both moves name the same client, to be comparable
			if again.action != m.action || other[c] == from[c] && again.client != m.client {
				t.Errorf("%s: in %v client %d's %v changes what client %d's %v comes to", name, from, d, before[i].action, c, m.action)
			}
		}
	}
}
