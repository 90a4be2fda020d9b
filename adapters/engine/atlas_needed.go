package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// dimension is an option that combinations are made of, the value that costs more first: whoever can do
// without it will.
type dimension struct {
	option string
	values []string
}

var dimensions = []dimension{
	{"order", []string{"descending", "ascending"}},
	{"overshoot", []string{"2", "0"}},
	{"admin-mutex", []string{"true", "false"}},
	{"verify-first", []string{"true", "false"}},
	{"restart", []string{"first", "stay", "random"}},
}

// needRooms are what a combination has to stand: two administrators beside a client, two clients beside
// an administrator, with a crash and without.
var needRooms = []Exploration{
	{Clients: 1, Admins: 2, Rounds: 1, Slots: 2, Calls: ops(acquire, verify), AdminCalls: swap},
	{Clients: 1, Admins: 2, Rounds: 1, Slots: 1, Calls: ops(acquire), InTurn: [][]scenario.Operation{ops(addOne), ops(removeOne)}},
	{Clients: 2, Admins: 1, Rounds: 1, Slots: 2, Calls: session, AdminCalls: swap},
	{Clients: 1, Admins: 1, Rounds: 1, Slots: 2, Calls: ops(acquire, verify), AdminCalls: ops(do(lock.Remove, 2)), Faults: sim.FaultBounds{Crashes: 1}},
	{Clients: 1, Admins: 2, Rounds: 1, Slots: 1, Calls: ops(acquire, verify), AdminCalls: swap, Faults: sim.FaultBounds{Crashes: 1, Late: true}},
}

// asked is what clients and administrators call.
func (e *Exploration) asked() string {
	admins := []string{spelled(e.AdminCalls)}
	if len(e.InTurn) > 0 {
		admins = nil
		for _, calls := range e.InTurn {
			admins = append(admins, spelled(calls))
		}
	}
	return spelled(e.Calls) + " beside " + strings.Join(admins, " and ")
}

// combination is one value for each dimension, by index.
type combination []int

// options are a combination as options.
func (c combination) options() [][2]string {
	out := set("pipeline=0", "retries=1", "admin-retries=1")
	for i, v := range c {
		out = append(out, [2]string{dimensions[i].option, dimensions[i].values[v]})
	}
	return out
}

// needed looks for the options that no property can do without: it visits every combination.
func (c *AtlasConfig) needed(ctx context.Context) (*report.Needed, error) {
	lost := make(map[string][]report.AtlasVerdict)
	all := combinations()
	out := &report.Needed{Tried: len(all)}
	for _, r := range needRooms {
		out.Bounds += "; " + r.String() + ": " + r.asked()
	}
	out.Bounds = strings.TrimPrefix(out.Bounds, "; ")
	for i, comb := range all {
		if c.Progress != nil {
			c.Progress(fmt.Sprintf("combination %d of %d", i+1, len(all)))
		}
		v, err := loses(ctx, comb, true)
		if err != nil {
			return nil, err
		}
		if lost[comb.key()] = v; len(v) == 0 {
			out.Proved++
		}
	}
	var err error
	if out.Any, err = c.anyNumber(ctx, all, lost); err != nil {
		return nil, err
	}
	least := smallest(all, lost)
	for _, d := range least {
		v, err := without(ctx, all, least, d)
		if err != nil {
			return nil, err
		}
		out.Smallest = append(out.Smallest, report.NeededOption{Option: dimensions[d].option + "=" + dimensions[d].values[0], Lost: v})
	}
	for i, d := range dimensions {
		if !slices.Contains(least, i) {
			out.Free = append(out.Free, d.option+": "+strings.Join(d.values, ", "))
		}
	}
	return out, nil
}

// anyRoom is for whom combinations are proved for any number of clients.
var anyRoom = Exploration{
	Clients: AnyNumber, Admins: AnyNumber, Slots: 1, Calls: session, AdminCalls: swap, Faults: sim.FaultBounds{Crashes: AnyNumber}, Brief: true,
}

// anyNumber is what is proved for any number of clients of the combinations that lose nothing within bounds.
func (c *AtlasConfig) anyNumber(ctx context.Context, all []combination, lost map[string][]report.AtlasVerdict) (*report.NeededAny, error) {
	out := &report.NeededAny{Bounds: anyRoom.String()}
	for _, comb := range all {
		if len(lost[comb.key()]) > 0 {
			continue
		}
		if c.Progress != nil {
			c.Progress(fmt.Sprintf("combination %d of those that lose nothing, any number of clients", len(out.Each)+1))
		}
		e := anyRoom
		e.Target, e.Options = Reference(lock.Semaphore), comb.options()
		x, err := Explore(ctx, e)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		out.Each = append(out.Each, concluded(comb, x.Report))
	}
	return out, nil
}

// concluded is which properties an exploration has proved of a combination, and which it has not.
func concluded(comb combination, r *report.Report) report.AnyCombination {
	var names []string
	for i, v := range comb {
		names = append(names, dimensions[i].option+"="+dimensions[i].values[v])
	}
	out := report.AnyCombination{Options: strings.Join(names, " ")}
	for i := range r.Properties {
		p := &r.Properties[i]
		switch verdict, _ := r.Verdict(p); verdict {
		case report.Proved:
			out.Proved = out.Proved.With(p.Property)
		case report.Skipped:
		default:
			out.Open = out.Open.With(p.Property)
		}
	}
	return out
}

// without is what is violated where one of the options that are needed is dropped, whatever is chosen of
// those that make no difference.
func without(ctx context.Context, all []combination, needed []int, dropped int) ([]report.AtlasVerdict, error) {
	var out []report.AtlasVerdict
	for _, comb := range all {
		if comb[dropped] == 0 || slices.ContainsFunc(needed, func(i int) bool { return i != dropped && comb[i] != 0 }) {
			continue
		}
		lost, err := loses(ctx, comb, false)
		if err != nil {
			return nil, err
		}
		for _, v := range lost {
			out = withFewest(out, v)
		}
	}
	slices.SortFunc(out, func(a, b report.AtlasVerdict) int { return cmp.Compare(a.Property, b.Property) })
	return out, nil
}

func (c combination) key() string { return fmt.Sprint([]int(c)) }

// combinations are all there are.
func combinations() []combination {
	all := []combination{{}}
	for _, d := range dimensions {
		var next []combination
		for _, c := range all {
			for v := range d.values {
				next = append(next, append(slices.Clone(c), v))
			}
		}
		all = next
	}
	return all
}

// smallest is the smallest set of dimensions whose first values suffice, whatever the others have.
func smallest(all []combination, lost map[string][]report.AtlasVerdict) []int {
	for size := range len(dimensions) + 1 {
		for set := range 1 << len(dimensions) {
			var fixed []int
			for i := range dimensions {
				if set&(1<<i) != 0 {
					fixed = append(fixed, i)
				}
			}
			if len(fixed) == size && suffices(fixed, all, lost) {
				return fixed
			}
		}
	}
	return nil
}

func suffices(fixed []int, all []combination, lost map[string][]report.AtlasVerdict) bool {
	for _, c := range all {
		safe := !slices.ContainsFunc(fixed, func(i int) bool { return c[i] != 0 })
		if safe && len(lost[c.key()]) > 0 {
			return false
		}
	}
	return true
}

// loses are the properties that a combination violates: all of them, or the first in each room.
func loses(ctx context.Context, comb combination, first bool) ([]report.AtlasVerdict, error) {
	var out []report.AtlasVerdict
	for _, e := range needRooms {
		e.Target, e.Options = Reference(lock.Semaphore), comb.options()
		e.Search = search.Options{Reductions: search.AllReductions, First: first}
		x, err := Explore(ctx, e)
		if err != nil {
			return nil, err
		}
		for p := range property.Count {
			if x.Traces[p] != nil {
				out = withFewest(out, x.Lost(p))
			}
		}
	}
	return out, ctx.Err()
}

// withFewest adds a verdict, or keeps the one of its property that takes fewer steps. No other has fewer
// if that is known of both.
func withFewest(all []report.AtlasVerdict, v report.AtlasVerdict) []report.AtlasVerdict {
	i := slices.IndexFunc(all, func(o report.AtlasVerdict) bool { return o.Property == v.Property })
	if i < 0 {
		return append(all, v)
	}
	least := all[i].Least && v.Least
	if v.Steps < all[i].Steps {
		all[i] = v
	}
	all[i].Least = least
	return all
}
