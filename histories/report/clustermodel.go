package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/lockproof/lockproof/histories/style"
)

// ClusterModel has the results of exploring locks on a simulated cluster of servers.
type ClusterModel struct {
	Tool    string // lockproof's version
	Server  string // description of the simulated cluster
	Command string // the command as typed; "" if none was
	Faults  []string
	Modes   []string
	Cells   []ClusterModelCell
}

// ClusterModelCell is the result for one lock design on one placement of clients and queue, with one mode of the
// cluster and one fault.
type ClusterModelCell struct {
	Design, Placement, Mode, Fault string
	// Steps are the shortest execution in which two clients hold the lock and neither was told of a loss. It is empty
	// if there is no such execution.
	Steps []string
	// States is the number of states visited.
	States int
	// Real is the command that produces the fault on real nodes.
	Real string
}

// Wrong reports whether two clients can hold one of the locks at once.
func (m *ClusterModel) Wrong() bool {
	return slices.ContainsFunc(m.Cells, func(c ClusterModelCell) bool { return len(c.Steps) > 0 })
}

// modelLegend explains what the results of a model mean for real clusters.
const modelLegend = "The model's time has no length: nodes notice as late as they like. What it finds can happen, and real nodes may be too quick for it."

// WriteClusterModel prints the results in plain text. A single cell is printed with its execution. Several cells are a
// table with the numbers of steps.
func WriteClusterModel(w io.Writer, m *ClusterModel, s style.Style) error {
	out := []style.Line{{style.Dim.Of("lockproof " + m.Tool), style.Dim.Of(" · "), style.Bold.Of(style.Printable(m.Server))}}
	out = append(out, repeating(m.Command)...)
	if len(m.Cells) == 1 {
		out = append(out, m.Cells[0].lines(s)...)
	} else {
		for _, text := range style.Wrap("steps of the shortest execution in which two clients hold the lock for certain; –: there is none. "+modelLegend, s.Columns()) {
			out = append(out, style.Line{style.Dim.Of(text)})
		}
		for _, fault := range m.Faults {
			out = append(append(out, nil), m.table(fault).Lines(2)...)
		}
	}
	return write(w, out, s)
}

// table is the table for one fault.
func (m *ClusterModel) table(fault string) *style.Table {
	t := new(style.Table)
	head := []style.Span{style.Bold.Of(fault), style.Dim.Of("where")}
	for _, mode := range m.Modes {
		head = append(head, style.Dim.Of(mode))
	}
	t.Add(head...)
	var row []style.Span
	for _, c := range m.Cells { // the cells of a row follow each other, in the order of the modes
		if c.Fault != fault {
			continue
		}
		if c.Mode == m.Modes[0] {
			row = []style.Span{style.Plain.Of(c.Design), style.Dim.Of(c.Placement)}
		}
		said := style.Plain.Of("–")
		if n := len(c.Steps); n > 0 {
			said = style.Red.Of(fmt.Sprint(n))
		}
		if row = append(row, said); c.Mode == m.Modes[len(m.Modes)-1] {
			t.Add(row...)
		}
	}
	return t
}

// lines are the steps of the cell's execution, or a sentence that there is no execution.
func (c *ClusterModelCell) lines(s style.Style) []style.Line {
	title := fmt.Sprintf("%s under %s: %s, %s", c.Design, c.Mode, c.Placement, c.Fault)
	out := []style.Line{{style.Bold.Of(title)}, nil}
	if len(c.Steps) == 0 {
		return append(out, style.Line{style.Green.Of("✓"), style.Plain.Of(fmt.Sprintf(" in none of %d states do two clients hold the lock", c.States))})
	}
	for i, step := range c.Steps {
		for k, text := range style.Wrap(step, s.Columns()-6) {
			number := ""
			if k == 0 {
				number = fmt.Sprint(i + 1)
			}
			out = append(out, style.Line{style.Dim.Of(fmt.Sprintf("%4s  ", number)), style.Plain.Of(text)})
		}
	}
	out = append(out, style.Line{style.Red.Of("✗"), style.Plain.Of(" both hold the lock, and neither has been told anything")}, nil)
	for _, text := range style.Wrap(modelLegend, s.Columns()) {
		out = append(out, style.Line{style.Dim.Of(text)})
	}
	return append(out, style.Line{style.Dim.Of("on real nodes: " + c.Real)})
}
