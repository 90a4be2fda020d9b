package sim_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestBoundsCheck: Check refuses invalid bounds with an error that names the problem, and accepts bounds that are just
// valid.
func TestBoundsCheck(t *testing.T) {
	calls := func(n int) scenario.Client {
		return scenario.Client{Ops: make([]scenario.Operation, n)}
	}
	for _, c := range []struct {
		want   string // part of the expected error; "" means no error
		change func(*sim.Bounds)
	}{
		{"", func(*sim.Bounds) {}},
		{"0 clients: expected 1 to 8, administrators included", func(b *sim.Bounds) { b.Clients = nil }},
		{"9 clients: expected 1 to 8, administrators included", func(b *sim.Bounds) { b.Clients = make([]scenario.Client, 9) }},
		{"", func(b *sim.Bounds) {
			b.Clients = []scenario.Client{calls(1), calls(200), calls(1), calls(1), calls(1), calls(1), calls(1), calls(1)}
		}},
		{"client 2 calls 201 operations: expected 1 to 200", func(b *sim.Bounds) { b.Clients = append(b.Clients, calls(201)) }},
		{"client 2 calls 0 operations: expected 1 to 200", func(b *sim.Bounds) { b.Clients = append(b.Clients, calls(0)) }},
		{"0 locks: expected 1 to 2", func(b *sim.Bounds) { b.Locks = nil }},
		{"3 locks: expected 1 to 2", func(b *sim.Bounds) { b.Locks = make([]scenario.Lock, 3) }},
		{"", func(b *sim.Bounds) { b.Locks = make([]scenario.Lock, 2) }},
		{"lock jobs with 11 slots: expected at most 10", func(b *sim.Bounds) { b.Locks[0].Slots = 11 }},
		{"", func(b *sim.Bounds) { b.Locks[0].Slots = 10 }},
		{"-2 faults of a kind: expected 0 to 100", func(b *sim.Bounds) { b.Faults.Lost = -2 }},
		{"101 faults of a kind: expected 0 to 100", func(b *sim.Bounds) { b.Faults.Restarts = 101 }},
		{"101 faults of a kind: expected 0 to 100", func(b *sim.Bounds) { b.Faults.Crashes = 101 }},
		{"", func(b *sim.Bounds) { b.Faults.Drops, b.Faults.ChannelErrors = 100, 100 }},
		{"transactions", func(b *sim.Bounds) {
			b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) {
				o.Confirm, o.Arguments.Has, o.Arguments.Overflow = amqplock.Transactions, amqp.HasMaxLength|amqp.HasOverflow, amqp.RejectPublish
			})
		}},
	} {
		b := sim.Bounds{Target: amqplock.References[0], Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{calls(1)}}
		c.change(&b)
		switch err := b.Check(); {
		case err == nil && c.want != "":
			t.Errorf("nothing is wrong, want %q", c.want)
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q, want %q", err, c.want)
		}
	}
}

func TestFaultBoundsInWords(t *testing.T) {
	for want, f := range map[string]sim.FaultBounds{
		"no faults": {},
		"1 crash":   {Crashes: 1},
		"2 crashes, 1 dropped connection, 3 channel errors, 1 lost reply, 2 broker restarts": {Crashes: 2, Drops: 1, ChannelErrors: 3, Lost: 1, Restarts: 2},
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
