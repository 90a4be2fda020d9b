package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// WriteComparison prints a comparison in plain text.
func WriteComparison(w io.Writer, c *Comparison, st style.Style) error {
	return write(w, comparisonLines(c, st), st)
}

func comparisonLines(c *Comparison, st style.Style) []style.Line {
	out := []style.Line{{style.Dim.Of("lockproof " + c.Tool + " · "), style.Bold.Of(style.Plural(len(c.Rows), "lock") + " side by side")}}
	for _, text := range style.Fill(style.List(c.how()), " ", st.Columns()) {
		out = append(out, style.Line{style.Dim.Of(text)})
	}
	out = append(out, repeating(c.Command)...)
	out = append(out, warnings(append([]string{c.shortfall()}, c.missing()...), st)...)
	for i, said := range c.advice() {
		if i == 0 {
			out = append(out, nil, style.Line{style.Bold.Of("Which one?")})
		}
		for k, text := range style.Wrap(said, st.Columns()-4) {
			out = append(out, style.Line{style.Plain.Of([2]string{"  · ", "    "}[min(k, 1)] + text)})
		}
	}
	for i, t := range c.tables() {
		if i > 0 && len(t.rows) == 0 {
			continue
		}
		out = append(out, nil, style.Line{style.Bold.Of(t.title)})
		for _, text := range style.Wrap(t.legend, st.Columns()-2) {
			out = append(out, style.Line{style.Dim.Of("  " + text)})
		}
		out = append(out, t.lines(st)...)
	}
	return out
}

// comparedTable is one table of a comparison. It has a row for each lock, and the locks are grouped by server.
type comparedTable struct {
	title, legend string
	head          []string
	rows          []comparedRow
}

type comparedRow struct {
	server string
	cells  []style.Span // the first cell is the lock's name
	notes  []string
}

// tables returns the tables of a comparison: verdicts, costs, latencies, and grants per second.
func (c *Comparison) tables() []comparedTable {
	return []comparedTable{c.verdicts(), c.costs(), c.latencies(), c.rates()}
}

// row begins a lock's row with its name. If marked is set, the name has a mark and a colour that say whether the lock
// holds.
func (l *ComparedLock) row(marked bool) comparedRow {
	name := style.Plain.Of(l.Target)
	if marked {
		if name = style.Green.Of("✓ " + l.Target); !l.Holds() {
			name = style.Red.Of("✗ " + l.Target)
		}
	}
	return comparedRow{server: l.Server, cells: []style.Span{name}}
}

var verdictColours = map[Verdict]style.Colour{Violated: style.Red, Undecided: style.Yellow, Passed: style.Plain, Proved: style.Green, Skipped: style.Dim}

// verdicts is the table of verdicts, with a column for each kind of fault.
func (c *Comparison) verdicts() comparedTable {
	t := comparedTable{
		title:  "What holds",
		legend: "what a lock promises, with one fault of a kind at most; drawn: many faults. ✓ proved: it holds in every execution within the bounds; ~ passed: in those that were visited or drawn; ? undecided; ✗ violated",
		head:   append([]string{"lock"}, c.Faults...),
	}
	for i := range c.Rows {
		l := &c.Rows[i]
		r := l.row(true)
		for k := range l.Faults {
			f := &l.Faults[k]
			r.cells = append(r.cells, verdictColours[f.Verdict()].Of(f.mark()))
		}
		r.notes = l.notes()
		t.rows = append(t.rows, r)
	}
	return t
}

// costs is the table of what operations cost on the simulated servers.
func (c *Comparison) costs() comparedTable {
	t := comparedTable{
		title:  "What operations cost",
		legend: "commands/round trips on the simulated server; refused: an acquire that finds the lock taken; verify: refresh where there is none; beyond: how long a client believed at most that it held what another was granted, in virtual time/commands of anyone",
		head:   []string{"lock"},
	}
	for _, o := range compared {
		t.head = append(t.head, o.name)
	}
	t.head = append(t.head, "beyond")
	for i := range c.Rows {
		l := &c.Rows[i]
		r := l.row(false)
		for _, o := range compared {
			r.cells = append(r.cells, style.Plain.Of(l.cost(o.of)))
		}
		r.cells = append(r.cells, style.Plain.Of(l.belief()))
		t.rows = append(t.rows, r)
	}
	return t
}

// latencies is the table of latencies on real servers, for a single client. It also shows the time until the slot of a
// dead holder is free.
func (c *Comparison) latencies() comparedTable {
	t := comparedTable{
		title:  "One client alone, on a real server",
		legend: "median time (verify: refresh where there is none), and bytes of acquire sent/received; freed is the median time from a holder's death to the next grant, * where a lease has to end first",
		head:   []string{"lock", "acquire", "verify", "release", "bytes", "freed"},
	}
	for i := range c.Rows {
		l := &c.Rows[i]
		if !c.measured() {
			break
		}
		r := l.row(false)
		if l.Real == nil {
			r.notes = []string{"not measured: " + l.NotMeasured}
			t.rows = append(t.rows, r)
			continue
		}
		for _, name := range []string{"acquire", "verify", "release"} {
			r.cells = append(r.cells, style.Plain.Of(l.Real.latency(name)))
		}
		r.cells = append(r.cells, style.Plain.Of(l.Real.bytes()), style.Plain.Of(l.Real.freed()))
		t.rows = append(t.rows, r)
	}
	return t
}

// latency is the median time of an operation, in words.
func (m *Measured) latency(operation string) string {
	o := m.operation(operation)
	if o == nil || o.Latency.Count == 0 {
		return "–"
	}
	return brief(o.Latency.P50)
}

// bytes is the traffic of an acquire, as bytes sent/bytes received; "–" if it was not measured.
func (m *Measured) bytes() string {
	o := m.operation("acquire")
	if o == nil || o.Sent == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f/%.0f", o.Sent, o.Received)
}

// freed is the median time, in words, until another client gets the slot of a dead holder.
func (m *Measured) freed() string {
	switch {
	case m.Free.Count == 0:
		return "–"
	case m.Lease > 0:
		return brief(m.Free.P50) + "*"
	}
	return brief(m.Free.P50)
}

// rates is the table of granted acquires per second on real servers.
func (c *Comparison) rates() comparedTable {
	t := comparedTable{
		title:  "Acquires granted a second, on a real server",
		legend: "by so many clients, each of a lock of its own, and all of one lock; p99 is the time within which 99 of 100 of the last column's grants came",
		head:   []string{"lock"},
	}
	for _, contended := range []bool{false, true} {
		for _, n := range c.Clients {
			head := fmt.Sprintf("%d own", n)
			if contended {
				head = fmt.Sprintf("%d one", n)
			}
			t.head = append(t.head, head)
		}
	}
	t.head = append(t.head, "p99")
	for i := range c.Rows {
		l := &c.Rows[i]
		if l.Real == nil {
			continue
		}
		r := l.row(false)
		last := "–"
		for _, contended := range []bool{false, true} {
			for _, n := range c.Clients {
				cell := "–"
				if load := l.Real.load(n, contended); load != nil && load.LeftOut == "" {
					cell, last = style.Grouped(int(load.Rate()+0.5)), load.Acquire.within()
				} else if load != nil {
					r.notes = append(r.notes, fmt.Sprintf("%d clients: %s", n, load.LeftOut))
				}
				r.cells = append(r.cells, style.Plain.Of(cell))
			}
		}
		r.cells = append(r.cells, style.Plain.Of(last))
		t.rows = append(t.rows, r)
	}
	return t
}

// within is the 99th percentile of the durations, in words; "–" if there are none.
func (d Distribution) within() string {
	if d.Count == 0 {
		return "–"
	}
	return brief(d.P99)
}

// lines are the lines of the table. A line with the server's name precedes its locks, and the notes on a lock follow
// its row.
func (t *comparedTable) lines(st style.Style) (out []style.Line) {
	table := style.Table{Right: make([]bool, len(t.head))}
	for i := range table.Right {
		table.Right[i] = i > 0
	}
	var head []style.Span
	for i, name := range t.head {
		if i == 0 && len(t.rows) > 0 && strings.Contains(t.rows[0].cells[0].Text, " ") {
			name = "  " + name
		}
		head = append(head, style.Dim.Of(name))
	}
	table.Add(head...)
	for _, r := range t.rows {
		table.Add(r.cells...)
	}
	lines := table.Lines(2)
	out = append(out, lines[0])
	for i, r := range t.rows {
		if i == 0 || t.rows[i-1].server != r.server {
			out = append(out, style.Line{style.Dim.Of("  " + style.Printable(r.server))})
		}
		out = append(out, lines[i+1])
		for _, note := range r.notes {
			const margin = 6
			out = append(out, style.Beside(nil, strings.Fields(style.Printable(note)), style.Yellow, margin, st.Columns()-margin)...)
		}
	}
	return out
}
