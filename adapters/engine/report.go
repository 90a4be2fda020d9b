package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Omitted are the properties that mean nothing for a target, though they do for others of its type, and why. They are told
// of where all others are judged.
func Omitted(t *lock.Target, judged property.Set) (out []report.PropertyResult) {
	if property.Of(t)&^judged != 0 {
		return nil // some were asked for
	}
	why := property.Skipped(t)
	for p := range property.Applicable(t.Kind).All() {
		if why[p] != "" {
			out = append(out, report.PropertyResult{Property: p, Evidence: p.Evidence(), Skip: why[p]})
		}
	}
	return out
}

// Assigned are options as they are typed.
func Assigned(options [][2]string) (out []string) {
	for _, o := range options {
		out = append(out, o[0]+"="+o[1])
	}
	return out
}

// ByName is options as they are typed, in the order of their names.
func ByName[V any](options map[string]V) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		out = append(out, name+"="+secret.HideOption(name, fmt.Sprint(options[name])))
	}
	return out
}

// Drawing is an execution as plain text.
func Drawing(t *scenario.Trace) string {
	var b strings.Builder
	draw.Draw(&b, t, style.Style{}) // a strings.Builder takes everything
	return b.String()
}

// budgets are what operations may cost, where a property limits that. An acquire of a later slot, or one
// that finds all taken, is judged slot by slot by the property cheap-acquire.
var budgets = map[monitor.CostClass]struct {
	by property.Property
	report.Budget
}{
	monitor.AcquireFirst: {property.CheapAcquire, report.Budget{RoundTrips: 4, Channels: 0, Connections: 0}},
	monitor.AcquireFull:  {property.CheapAcquire, report.Budget{RoundTrips: -1, Channels: 0, Connections: 0}},
	monitor.VerifyHeld:   {property.CheapVerify, report.Budget{RoundTrips: 1, Channels: 0, Connections: 0}},
}

// Efficiency is what operations cost, as a report tells of it. They have budgets where one of the properties says so.
func Efficiency(costs *monitor.Costs, kind lock.Kind, judged property.Set) []report.EfficiencyRow {
	var rows []report.EfficiencyRow
	for k := range monitor.CostClasses {
		t := &costs[k]
		if t.Count == 0 {
			continue
		}
		row := report.EfficiencyRow{
			Operation: k.Of(kind), Count: t.Count,
			Commands: spread(t, monitor.Commands), RoundTrips: spread(t, monitor.Trips), Unpipelined: spread(t, monitor.Replies),
			Channels: spread(t, monitor.Channels), Connections: spread(t, monitor.Connections),
		}
		if b, ok := budgets[k]; ok && judged.Has(b.by) {
			row.Budget = &b.Budget
		}
		rows = append(rows, row)
	}
	return rows
}

func spread(t *monitor.Tally, measure int) report.Spread {
	return report.Spread{Count: t.Count, Sum: t.Sum[measure], Min: t.Min[measure], Max: t.Max[measure]}
}

// Holes is why linearizability is not judged of a lock that begins with holes.
const Holes = "a history tells how many slots there are, and here it matters which"
