package explore

import (
	"context"
	"slices"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// To minimise a counterexample, slots and calls are omitted as well. Proving it minimal therefore means searching every
// smaller configuration.

// Bounds of the search for a shorter violation. It takes one or two seconds.
const (
	smallerConfigurations = 1 << 9
	shorterStates         = 1 << 20
)

// least searches for shorter counterexamples, and records a property in Least if there certainly is none. A state does
// not show violations of linearizability, so linearizability is left out.
func (x *Explored) least(ctx context.Context, b *sim.Bounds) error {
	rooms, all := smaller(b)
	for p := range property.Count {
		if x.Traces[p] == nil || p == property.Linearizable {
			continue
		}
		certain, states := all, shorterStates
		for i := range rooms {
			s := search.Shorter(ctx, rooms[i], p, len(x.Traces[p].Steps), states)
			certain, states = certain && s.Certain, states-s.States
			if s.Actions == nil {
				continue
			}
			if err := x.shorten(ctx, &rooms[i], map[property.Property][]scenario.Action{p: s.Actions}); err != nil {
				return err
			}
		}
		if certain {
			x.Least = x.Least.With(p)
		}
	}
	return nil
}

// smaller returns the configurations with at most the slots and calls of b, including b. If there are too many, it
// returns only b, and all is false.
func smaller(b *sim.Bounds) (rooms []sim.Bounds, all bool) {
	locks, clients := fewerSlots(b.Locks), fewerClients(b.Clients)
	if len(locks)*len(clients) > smallerConfigurations {
		return []sim.Bounds{*b}, false
	}
	for _, l := range locks {
		for _, c := range clients {
			r := *b
			r.Locks, r.Clients = l, c
			rooms = append(rooms, r)
		}
	}
	return rooms, true
}

// fewerSlots returns all variants of the locks with the same or smaller numbers of slots.
func fewerSlots(locks []scenario.Lock) [][]scenario.Lock {
	all := [][]scenario.Lock{nil}
	for _, l := range locks {
		var next [][]scenario.Lock
		for _, some := range all {
			if l.Missing != 0 { // a lock whose initial slots have gaps keeps all of them
				next = append(next, append(slices.Clone(some), l))
				continue
			}
			for n := range l.Slots + 1 {
				next = append(next, append(slices.Clone(some), scenario.Lock{Name: l.Name, Slots: n}))
			}
		}
		all = next
	}
	return all
}

// fewerClients returns the clients with all their calls, and every variant without some calls or without whole clients.
// Clients with the same workload are interchangeable, so they are not permuted. It returns not many more than
// [smallerConfigurations] variants.
func fewerClients(clients []scenario.Client) (all [][]scenario.Client) {
	var pick func(c, from int, so []scenario.Client)
	pick = func(c, from int, so []scenario.Client) {
		if c == len(clients) {
			if len(so) > 0 {
				all = append(all, so)
			}
			return
		}
		if c > 0 && (clients[c].Lock != clients[c-1].Lock || !slices.Equal(clients[c].Ops, clients[c-1].Ops)) {
			from = 0
		}
		choices := fewerCalls(clients[c].Ops)
		for i := from; i < len(choices) && len(all) <= smallerConfigurations; i++ {
			with := slices.Clone(so)
			if len(choices[i]) > 0 {
				with = append(with, scenario.Client{Lock: clients[c].Lock, Ops: choices[i]})
			}
			pick(c+1, i, with)
		}
	}
	pick(0, 0, nil)
	return all
}

// fewerCalls returns every variant of the calls with some omitted, or with smaller arguments. It returns not many more
// than [smallerConfigurations] variants.
func fewerCalls(ops []scenario.Operation) [][]scenario.Operation {
	all := [][]scenario.Operation{nil}
	for _, op := range ops {
		for _, some := range all[:min(len(all), smallerConfigurations)] {
			for arg := min(op.Arg, 1); arg <= op.Arg; arg++ {
				all = append(all, append(slices.Clone(some), scenario.Operation{Op: op.Op, Arg: arg}))
			}
		}
	}
	return all
}
