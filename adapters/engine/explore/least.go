package explore

import (
	"context"
	"slices"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// A counterexample is also shortened by omitting slots and calls. Proving it minimal therefore means searching every smaller
// configuration.

// Bounds of the search for a shorter violation: it takes a second or two.
const (
	smallerConfigurations = 1 << 9
	shorterStates         = 1 << 20
)

// least searches for shorter counterexamples, and records if there certainly is none. States do not show violations of
// linearizability, so for that property minimality stays unknown.
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

// smaller are the configurations with at most the slots and calls of b, including b. If there are too many, all is false and
// the only one is b.
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

// fewerSlots are the locks with the same number of slots and with fewer.
func fewerSlots(locks []scenario.Lock) [][]scenario.Lock {
	all := [][]scenario.Lock{nil}
	for _, l := range locks {
		var next [][]scenario.Lock
		for _, some := range all {
			if l.Missing != 0 { // the missing slots are the subject
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

// fewerClients are the clients with all their calls, and with calls and whole clients omitted. Clients with the same
// workload are interchangeable. The number of results is not much larger than [smallerConfigurations].
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

// fewerCalls are the calls with some omitted, and with smaller arguments. The number of results is not much larger than
// [smallerConfigurations].
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
