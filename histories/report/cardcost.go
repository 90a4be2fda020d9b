package report

import (
	"fmt"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
)

// costForm is what is shown of costs.
type costForm struct {
	means       bool // beside the extremes
	unpipelined bool
	name        int  // columns of operations' names; longer ones go on in the next line
	plain       bool // of a server that knows neither channels nor confirms: nothing is said of those
}

// costForms are the forms, the one that shows most first. The last fits into 80 columns, whatever there is to count.
var costForms = []costForm{
	{means: true, unpipelined: true, name: 60}, {means: true, name: 60}, {unpipelined: true, name: 60}, {name: 60}, {name: 22}, {name: 18}, {name: 14},
}

// cardEfficiency is the table of what operations cost, in the form that has the most of those that fit.
func cardEfficiency(r *Report, s style.Style) (out []style.Line) {
	if len(r.Efficiency) == 0 {
		return nil
	}
	legend := "    ≤ is the budget"
	for _, form := range costForms {
		if form.plain = lock.WordsOf(r.Target, r.Server).OffBroker(); form.plain && form.unpipelined {
			continue
		}
		if out = form.table(r); widest(out) <= s.Columns() {
			if form.unpipelined {
				legend += "; unpipelined: the round trips if every reply were waited for"
			}
			break
		}
	}
	return append(out, style.Line{style.Dim.Of(legend)})
}

// widest is the width of the longest of some lines.
func widest(lines []style.Line) (width int) {
	for _, l := range lines {
		width = max(width, l.Width())
	}
	return width
}

func (f costForm) table(r *Report) []style.Line {
	t := style.Table{Right: []bool{false, true, true, true, true, true, true}}
	var head []style.Span
	for _, title := range f.columns() {
		head = append(head, style.Dim.Of(title))
	}
	t.Add(head...)
	for i := range r.Efficiency {
		f.add(&t, &r.Efficiency[i])
	}
	return t.Lines(2)
}

// columns are the titles of the columns that the form has.
func (f costForm) columns() []string {
	all := []string{"  cost of", "count", "commands", "round trips"}
	if f.unpipelined {
		all = append(all, "unpipelined")
	}
	if !f.plain {
		all = append(all, "channels")
	}
	return append(all, "connections")
}

// add adds the row of an operation, and the lines in which its name goes on.
func (f costForm) add(t *style.Table, e *EfficiencyRow) {
	name, budget := e.Operation, Budget{-1, -1, -1}
	if e.Situation != "" {
		name += ", " + e.Situation
	}
	if e.Budget != nil {
		budget = *e.Budget
	}
	lines := style.Wrap(name, f.name)
	mark := style.Plain.Of("  " + lines[0])
	if e.Budget != nil {
		mark.Text = "✓ " + lines[0]
	}
	if !e.Within() {
		mark = style.Red.Of("✗ " + lines[0])
	}
	row := []style.Span{mark, style.Plain.Of(style.Grouped(e.Count)), f.cost(e.Commands, -1), f.cost(e.RoundTrips, budget.RoundTrips)}
	if f.unpipelined {
		row = append(row, style.Dim.Of(f.cost(e.Unpipelined, -1).Text))
	}
	if !f.plain {
		row = append(row, f.cost(e.Channels, budget.Channels))
	}
	t.Add(append(row, f.cost(e.Connections, budget.Connections))...)
	for _, rest := range lines[1:] {
		t.Add(style.Span{Text: "    " + rest, Colour: mark.Colour})
	}
}

// cost is what was spent: the mean and the extremes where they differ, and the limit if there is one.
func (f costForm) cost(spent Spread, limit int) style.Span {
	text := fmt.Sprintf("%d–%d", spent.Min, spent.Max)
	switch {
	case spent.Count == 0:
		text = "–"
	case spent.Min == spent.Max:
		text = style.Grouped(spent.Min)
	case f.means:
		text = fmt.Sprintf("%.1f (%s)", spent.Mean(), text)
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
