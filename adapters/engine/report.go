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

// Omitted are the properties that do not apply to a target although they apply to others of its type, with the reasons. They
// are listed if all properties are judged.
func Omitted(t *lock.Target, judged property.Set) (out []report.PropertyResult) {
	if property.Of(t)&^judged != 0 {
		return nil // only some were asked for
	}
	why := property.Skipped(t)
	for p := range property.Applicable(t.Kind).All() {
		if why[p] != "" {
			out = append(out, report.PropertyResult{Property: p, Evidence: p.Evidence(), Skip: why[p]})
		}
	}
	return out
}

// Assigned are options in the form name=value.
func Assigned(options [][2]string) (out []string) {
	for _, o := range options {
		out = append(out, o[0]+"="+o[1])
	}
	return out
}

// ByName is options in the form name=value, in the order of their names.
func ByName[V any](options map[string]V) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		out = append(out, name+"="+secret.HideOption(name, fmt.Sprint(options[name])))
	}
	return out
}

// Drawing is the picture of an execution as plain text.
func Drawing(t *scenario.Trace) string {
	var b strings.Builder
	draw.Draw(&b, t, style.Style{}) // a strings.Builder returns no errors
	return b.String()
}

// budgets are the maximum costs of operations for which a property has a limit. An acquire of a later slot, or one that
// finds all slots taken, is judged slot by slot by the property cheap-acquire.
var budgets = map[monitor.CostClass]struct {
	by property.Property
	report.Budget
}{
	monitor.AcquireFirst: {property.CheapAcquire, report.Budget{RoundTrips: 4, Channels: 0, Connections: 0}},
	monitor.AcquireFull:  {property.CheapAcquire, report.Budget{RoundTrips: -1, Channels: 0, Connections: 0}},
	monitor.VerifyHeld:   {property.CheapVerify, report.Budget{RoundTrips: 1, Channels: 0, Connections: 0}},
}

// Efficiency are the costs of operations in the form for a report. They have budgets if one of the judged properties limits
// them.
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

// Holes is the reason why linearizability is not judged for a lock that begins with holes.
const Holes = "a history tells how many slots there are, and here it matters which"
