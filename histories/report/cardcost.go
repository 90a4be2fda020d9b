package report

import (
	"fmt"
	"github.com/lockproof/lockproof/histories/style"
)

// cardEfficiency is the table of what operations cost.
func cardEfficiency(r *Report, s style.Style) []style.Line {
	if len(r.Efficiency) == 0 {
		return nil
	}
	t := style.Table{Right: []bool{false, true, true, true, true, true, true}}
	var head []style.Span
	for _, title := range []string{"  cost of", "count", "commands", "round trips", "unpipelined", "channels", "connections"} {
		head = append(head, style.Dim.Of(title))
	}
	t.Add(head...)
	for i := range r.Efficiency {
		t.Add(r.Efficiency[i].cells(s)...)
	}
	return append(t.Lines(2), style.Line{style.Dim.Of("    ≤ is the budget; unpipelined: the round trips if every reply were waited for")})
}

func (e *EfficiencyRow) cells(s style.Style) []style.Span {
	name, budget := e.Operation, Budget{-1, -1, -1}
	if e.Situation != "" {
		name += ", " + e.Situation
	}
	mark := style.Plain.Of("  " + name)
	if e.Budget != nil {
		budget = *e.Budget
		mark.Text = "✓ " + name
	}
	if !e.Within() {
		mark = style.Red.Of("✗ " + name)
	}
	return []style.Span{
		mark, style.Plain.Of(style.Grouped(e.Count)), cost(e.Commands, -1, s), cost(e.RoundTrips, budget.RoundTrips, s),
		style.Dim.Of(cost(e.Unpipelined, -1, s).Text), cost(e.Channels, budget.Channels, s), cost(e.Connections, budget.Connections, s),
	}
}

// cost is what was spent: the mean, the extremes where they differ, and the limit if there is one. In
// a narrow terminal the extremes alone.
func cost(spent Spread, limit int, s style.Style) style.Span {
	text := fmt.Sprintf("%.1f (%d–%d)", spent.Mean(), spent.Min, spent.Max)
	switch {
	case spent.Count == 0:
		text = "–"
	case spent.Min == spent.Max:
		text = style.Grouped(spent.Min)
	case s.Columns() < 100:
		text = fmt.Sprintf("%d–%d", spent.Min, spent.Max)
	}
	if limit < 0 {
		return style.Plain.Of(text)
	}
	text = fmt.Sprintf("%s ≤ %d", text, limit)
	if within(spent, limit) {
		return style.Plain.Of(text)
	}
	return style.Red.Of(text)
}
