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

// Omitted returns the properties that apply to other locks of the target's type, but not to this target, each with the
// reason. It returns nil unless all properties are judged.
func Omitted(t *lock.Target, judged property.Set) (out []report.PropertyResult) {
	if property.Of(t)&^judged != 0 {
		return nil // the user asked for some properties only
	}
	why := property.Skipped(t)
	for p := range property.Applicable(t.Kind).All() {
		if why[p] != "" {
			out = append(out, report.PropertyResult{Property: p, Evidence: p.Evidence(), Skip: why[p]})
		}
	}
	return out
}

// Assigned returns options in the form name=value.
func Assigned(options [][2]string) (out []string) {
	for _, o := range options {
		out = append(out, o[0]+"="+o[1])
	}
	return out
}

// ByName returns options in the form name=value, sorted by name.
func ByName[V any](options map[string]V) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		out = append(out, name+"="+secret.HideOption(name, fmt.Sprint(options[name])))
	}
	return out
}

// Drawing draws an execution as plain text.
func Drawing(t *scenario.Trace) string {
	var b strings.Builder
	draw.Draw(&b, t, style.Style{}) // cannot fail: a strings.Builder returns no errors
	return b.String()
}

// budgets are the maximum costs of operations, for those cost classes in which a property limits a cost. The number of
// round trips that cheap-acquire allows depends on the number of slots that an acquire may probe. AcquireFull therefore
// has no fixed limit of round trips (-1), and AcquireLater has no entry.
var budgets = map[monitor.CostClass]struct {
	by property.Property
	report.Budget
}{
	monitor.AcquireFirst: {property.CheapAcquire, report.Budget{RoundTrips: 4, Channels: 0, Connections: 0}},
	monitor.AcquireFull:  {property.CheapAcquire, report.Budget{RoundTrips: -1, Channels: 0, Connections: 0}},
	monitor.VerifyHeld:   {property.CheapVerify, report.Budget{RoundTrips: 1, Channels: 0, Connections: 0}},
}

// Efficiency returns the costs of operations as rows of a report. A row has a budget if one of the judged properties
// limits that cost.
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

// Holes explains why linearizability is not judged for a lock whose initial slots have gaps, for example slots 1 and 3.
const Holes = "a history tells how many slots there are, and here it matters which"
