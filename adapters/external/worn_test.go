package external_test

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// hoarding is a mutex that opens a channel, or a connection, with each acquire that it does not close.
type hoarding struct {
	named
	connections bool
}

func (h *hoarding) Acquire(ctx context.Context, name string) (int, error) {
	if h.connections {
		return h.connect(ctx, name)
	}
	if err := h.open(); err != nil {
		return 0, err
	}
	if _, err := h.conn.Channel(); err != nil {
		return 0, err
	}
	return h.named.Acquire(ctx, name)
}

func (h *hoarding) connect(ctx context.Context, name string) (int, error) {
	if h.holds == "" {
		h.conn = nil
	}
	return h.named.Acquire(ctx, name)
}

// TestWorn: channels and connections that pile up are a leak.
func TestWorn(t *testing.T) {
	var often []scenario.Operation
	for range 6 {
		often = append(often, acquire, scenario.Operation{Op: lock.Release})
	}
	for _, connections := range []bool{false, true} {
		runner := mutexRunner(t, "hoarding", func(url string) (inprocess.Lock, error) {
			h := &hoarding{named{url: url, name: func(n string) string { return n + ".lock" }}, connections}
			return h, h.open()
		})
		for _, ops := range [][]scenario.Operation{often, often[:4]} {
			sc := runner.Playable(scenario.Scenario{
				Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: ops}}, Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1}},
			})
			x, err := runner.Run(t.Context(), &sc)
			if err != nil {
				t.Fatal(err)
			}
			if found := x.Found.Has(property.NoLeak); found != (len(ops) > 4) {
				t.Errorf("connections: %v: %v", connections, x.Violations)
			}
		}
	}
}
