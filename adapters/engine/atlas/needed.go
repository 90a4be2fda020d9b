package atlas

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim/question"
	"github.com/lockproof/lockproof/sim/search"
)

// asked returns the calls of an exploration as text: those of each client, and those of the administrators, for example
// "acquire,release beside remove:1".
func asked(e *explore.Exploration) string {
	admins := []string{explore.CallsFlag(e.AdminCalls)}
	if len(e.InTurn) > 0 {
		admins = nil
		for _, calls := range e.InTurn {
			admins = append(admins, explore.CallsFlag(calls))
		}
	}
	return explore.CallsFlag(e.Calls) + " beside " + strings.Join(admins, " and ")
}

// combination is a choice of one value for each option under test: element i is the index of option i's value. Index 0
// is the more expensive value.
type combination []int

// options returns the options of a combination as name-value pairs.
func (a *atlas) options(c combination) [][2]string {
	out := slices.Clone(a.Combined.Options)
	for i, v := range c {
		d := a.Combined.Dimensions[i]
		out = append(out, [2]string{d.Option, d.Values[v]})
	}
	return out
}

// stood returns the explorations in which a combination of options must violate no property.
func (a *atlas) stood() ([]explore.Exploration, error) {
	var out []explore.Exploration
	for i := range a.Combined.Stood {
		e, err := a.exploration(&a.Combined.Stood[i])
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// needed finds the options that a lock needs in order to violate no property. It explores every combination of options.
func (a *atlas) needed(ctx context.Context) (*report.Needed, error) {
	lost := make(map[string][]report.AtlasVerdict)
	all := combinations(a.Combined.Dimensions)
	out := &report.Needed{Tried: len(all)}
	stood, err := a.stood()
	if err != nil {
		return nil, err
	}
	for i := range stood {
		out.Bounds += "; " + stood[i].String() + ": " + asked(&stood[i])
	}
	out.Bounds = strings.TrimPrefix(out.Bounds, "; ")
	for i, comb := range all {
		if a.Progress != nil {
			a.Progress(fmt.Sprintf("combination %d of %d", i+1, len(all)))
		}
		v, err := a.loses(ctx, stood, comb, true)
		if err != nil {
			return nil, err
		}
		if lost[comb.key()] = v; len(v) == 0 {
			out.Proved++
		}
	}
	if a.Combined.Any != nil {
		if out.Any, err = a.anyNumber(ctx, all, lost); err != nil {
			return nil, err
		}
	}
	least := smallest(len(a.Combined.Dimensions), all, lost)
	for _, d := range least {
		v, err := a.without(ctx, stood, all, least, d)
		if err != nil {
			return nil, err
		}
		out.Smallest = append(out.Smallest, report.NeededOption{Option: name(a.Combined.Dimensions[d], 0), Lost: v})
	}
	for i, d := range a.Combined.Dimensions {
		if !slices.Contains(least, i) {
			out.Free = append(out.Free, d.Option+": "+strings.Join(d.Values, ", "))
		}
	}
	return out, nil
}

// name returns the option=value text for one value of an option.
func name(d question.Dimension, value int) string { return d.Option + "=" + d.Values[value] }

// anyNumber explores the combinations that violate nothing within bounds, and reports what is proved for any number of
// clients. lost has the violations of each combination.
func (a *atlas) anyNumber(ctx context.Context, all []combination, lost map[string][]report.AtlasVerdict) (*report.NeededAny, error) {
	anybody, err := a.exploration(a.Combined.Any)
	if err != nil {
		return nil, err
	}
	anybody.Brief, anybody.Search = true, search.Options{}
	out := &report.NeededAny{Bounds: anybody.String()}
	for _, comb := range all {
		if len(lost[comb.key()]) > 0 {
			continue
		}
		if a.Progress != nil {
			a.Progress(fmt.Sprintf("combination %d of those that lose nothing, any number of clients", len(out.Each)+1))
		}
		e := anybody
		e.Options = a.options(comb)
		x, err := explore.Run(ctx, e)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		out.Each = append(out.Each, a.concluded(comb, x.Report))
	}
	return out, nil
}

// concluded says which properties are proved for a combination, and which are not.
func (a *atlas) concluded(comb combination, r *report.Report) report.AnyCombination {
	var names []string
	for i, v := range comb {
		names = append(names, name(a.Combined.Dimensions[i], v))
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

// without returns the violations that occur if one of the needed options is dropped. It tries all values of the options
// that are not needed.
func (a *atlas) without(ctx context.Context, stood []explore.Exploration, all []combination, needed []int, dropped int) ([]report.AtlasVerdict, error) {
	var out []report.AtlasVerdict
	for _, comb := range all {
		if comb[dropped] == 0 || slices.ContainsFunc(needed, func(i int) bool { return i != dropped && comb[i] != 0 }) {
			continue
		}
		lost, err := a.loses(ctx, stood, comb, false)
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

// combinations returns all combinations of the options' values.
func combinations(dimensions []question.Dimension) []combination {
	all := []combination{{}}
	for _, d := range dimensions {
		var next []combination
		for _, c := range all {
			for v := range d.Values {
				next = append(next, append(slices.Clone(c), v))
			}
		}
		all = next
	}
	return all
}

// smallest returns the indices of a smallest set of options that suffices. A set suffices if no combination violates a
// property in which each option of the set has its first value.
func smallest(dimensions int, all []combination, lost map[string][]report.AtlasVerdict) []int {
	for size := range dimensions + 1 {
		for set := range 1 << dimensions {
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

// loses returns the properties that a combination violates. If first is set, each exploration stops at its first
// violation.
func (a *atlas) loses(ctx context.Context, stood []explore.Exploration, comb combination, first bool) ([]report.AtlasVerdict, error) {
	var out []report.AtlasVerdict
	for _, e := range stood {
		e.Options, e.Search.First = a.options(comb), first
		x, err := explore.Run(ctx, e)
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

// withFewest adds v to the verdicts. If all already has a verdict on the same property, the one with fewer steps stays.
// Its number of steps counts as minimal (Least) only if it did in both verdicts.
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
