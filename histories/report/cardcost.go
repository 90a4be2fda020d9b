package report

import (
	"fmt"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
)

// costForm says which costs the table shows, and how wide the names are.
type costForm struct {
	means       bool // show means besides the smallest and the largest numbers
	unpipelined bool
	name        int  // width of operations' names in characters; longer ones are wrapped
	plain       bool // leave out channels and confirms, which this server does not have
}

// costForms are the forms of the table, the most detailed first. The last fits into 80 columns with any numbers.
var costForms = []costForm{
	{means: true, unpipelined: true, name: 60}, {means: true, name: 60}, {unpipelined: true, name: 60}, {name: 60}, {name: 22}, {name: 18}, {name: 14},
}

// cardEfficiency is the table of the costs of operations, in the most detailed form that fits the card's width.
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

// widest is the width of the longest line, in characters.
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

// columns are the titles of the form's columns.
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

// add adds the row of an operation. A long name continues on further lines.
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

// cost writes the mean, the extremes if they differ, and the limit if there is one.
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
