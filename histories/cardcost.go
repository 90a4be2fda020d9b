package histories

import "fmt"

// cardEfficiency is the table of what operations cost.
func cardEfficiency(r *Report, s Style) []line {
	if len(r.Efficiency) == 0 {
		return nil
	}
	t := table{right: []bool{false, true, true, true, true, true, true}}
	var head []span
	for _, title := range []string{"  cost of", "count", "commands", "round trips", "unpipelined", "channels", "connections"} {
		head = append(head, span{title, dim})
	}
	t.add(head...)
	for i := range r.Efficiency {
		t.add(r.Efficiency[i].cells(s)...)
	}
	return append(t.lines(2), line{{"    ≤ is the budget; unpipelined: the round trips if every reply were waited for", dim}})
}

func (e *EfficiencyRow) cells(s Style) []span {
	name, budget := e.Operation, Budget{-1, -1, -1}
	if e.Situation != "" {
		name += ", " + e.Situation
	}
	mark := span{"  " + name, plain}
	if e.Budget != nil {
		budget = *e.Budget
		mark.text = "✓ " + name
	}
	if !e.Within() {
		mark = span{"✗ " + name, red}
	}
	return []span{
		mark, {grouped(e.Count), plain}, cost(e.Commands, -1, s), cost(e.RoundTrips, budget.RoundTrips, s),
		{cost(e.Unpipelined, -1, s).text, dim}, cost(e.Channels, budget.Channels, s), cost(e.Connections, budget.Connections, s),
	}
}

// cost is what was spent: the mean, the extremes where they differ, and the limit if there is one. In
// a narrow terminal the extremes alone.
func cost(spent Spread, limit int, s Style) span {
	text := fmt.Sprintf("%.1f (%d–%d)", spent.Mean(), spent.Min, spent.Max)
	switch {
	case spent.Count == 0:
		text = "–"
	case spent.Min == spent.Max:
		text = grouped(spent.Min)
	case s.width() < 100:
		text = fmt.Sprintf("%d–%d", spent.Min, spent.Max)
	}
	if limit < 0 {
		return span{text, plain}
	}
	text = fmt.Sprintf("%s ≤ %d", text, limit)
	if within(spent, limit) {
		return span{text, plain}
	}
	return span{text, red}
}
