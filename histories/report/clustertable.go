package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/style"
)

// ClusterTable has the results of tests in which clients held locks on a cluster while its nodes had faults.
type ClusterTable struct {
	Tool    string // lockproof's version
	Server  string // for example "RabbitMQ 3.10.8, three nodes"
	Command string // the command as typed; "" if none was
	Faults  []string
	Modes   []string
	Cells   []ClusterCell
	// Elapsed is the duration of the measurement.
	Elapsed time.Duration
	// Interrupted says that the table is incomplete.
	Interrupted bool
}

// ClusterCell has the runs of one lock design on one placement of clients and queue, with one mode of the cluster and
// one fault.
type ClusterCell struct {
	Design, Placement, Mode, Fault string
	Runs                           []ClusterRun
}

// ClusterRun is the result of one run of a cell.
type ClusterRun struct {
	Twice    bool          // two clients held the lock at the same time
	Together time.Duration // longest time for which two clients held the lock
	Standing bool          // two clients still held the lock when the run ended
	Told     string        // how the client whose hold ended first learned this; "" if it did not
	Lost     bool          // verify said "not held" to a holder whose connection was open
	Stuck    bool          // the lock was free, but no client could acquire it
	Tokens   int           // number of token messages at the end; -1 if unknown
	Failed   string        // why the run could not be made; "" if it was made
}

// String describes the result of the run in a word or two, for the table.
func (r *ClusterRun) String() string {
	if r.Failed != "" {
		return "?"
	}
	said := "0"
	switch {
	case r.Standing:
		said = "∞"
	case r.Twice && r.Together < 50*time.Millisecond:
		said = "<0.1"
	case r.Twice:
		said = fmt.Sprintf("%.1f", r.Together.Seconds())
	}
	if r.Lost {
		said += " lost"
	}
	if r.Stuck {
		said += " stuck"
	}
	if r.Tokens == 0 || r.Tokens > 1 {
		said += fmt.Sprintf(" %d tokens", r.Tokens)
	}
	return said
}

// wrong reports whether the lock failed in this run.
func (r *ClusterRun) wrong() bool { return r.Twice || r.Lost || r.Stuck }

// Wrong reports whether any lock failed under any fault.
func (t *ClusterTable) Wrong() bool {
	return slices.ContainsFunc(t.Cells, func(c ClusterCell) bool {
		return slices.ContainsFunc(c.Runs, func(r ClusterRun) bool { return r.wrong() })
	})
}

// clusterLegend explains the cells of the table.
const clusterLegend = "seconds in which two clients held the lock for certain, run by run; ∞: both held it until the end, and neither was told; " +
	"lost: a holder was refused by verify, though its connection was open; stuck: never free again"

// clusterRow is a row of the table for one fault.
type clusterRow struct {
	design, placement string
	cells             []string // in the order of the modes
	told              []string
	wrong             bool
}

// rows are the rows of the table for one fault.
func (t *ClusterTable) rows(fault string) (rows []clusterRow) {
	for _, c := range t.Cells {
		mode := slices.Index(t.Modes, c.Mode)
		if c.Fault != fault || mode < 0 {
			continue
		}
		i := slices.IndexFunc(rows, func(r clusterRow) bool { return r.design == c.Design && r.placement == c.Placement })
		if i < 0 {
			i = len(rows)
			rows = append(rows, clusterRow{design: c.Design, placement: c.Placement, cells: make([]string, len(t.Modes))})
		}
		rows[i].add(mode, c.Runs)
	}
	return rows
}

// add adds the runs with a mode to the row.
func (r *clusterRow) add(mode int, runs []ClusterRun) {
	var words []string
	for _, run := range runs {
		words = append(words, run.String())
		r.wrong = r.wrong || run.wrong()
		if run.Told != "" && !slices.Contains(r.told, run.Told) {
			r.told = append(r.told, run.Told)
		}
	}
	r.cells[mode] = strings.Join(words, ", ")
}

// WriteClusterTable prints the table in plain text.
func WriteClusterTable(w io.Writer, t *ClusterTable, s style.Style) error {
	out := []style.Line{{style.Dim.Of("lockproof " + t.Tool), style.Dim.Of(" · "), style.Bold.Of(style.Printable(t.Server))}}
	for _, text := range style.Wrap(clusterLegend, s.Columns()) {
		out = append(out, style.Line{style.Dim.Of(text)})
	}
	out = append(out, repeating(t.Command)...)
	for _, fault := range t.Faults {
		rows := t.rows(fault)
		if len(rows) == 0 {
			continue
		}
		table := style.Table{}
		head := []style.Span{style.Bold.Of(fault), style.Dim.Of("where")}
		for _, mode := range t.Modes {
			head = append(head, style.Dim.Of(mode))
		}
		table.Add(append(head, style.Dim.Of("told by"))...)
		for _, r := range rows {
			table.Add(r.spans()...)
		}
		out = append(append(out, nil), table.Lines(2)...)
	}
	if t.Interrupted {
		out = append(out, nil, style.Line{style.Yellow.Of("interrupted: this is what was measured until then")})
	}
	return write(w, out, s)
}

// spans are the cells of the row; cells with a failure are red.
func (r *clusterRow) spans() []style.Span {
	spans := []style.Span{style.Plain.Of(r.design), style.Dim.Of(r.placement)}
	for _, c := range r.cells {
		colour := style.Plain
		if strings.Trim(c, "0, ") != "" {
			colour = style.Red
		}
		spans = append(spans, colour.Of(c))
	}
	return append(spans, style.Dim.Of(style.Printable(strings.Join(r.told, "; "))))
}

// WriteClusterMarkdown writes the table as Markdown.
func WriteClusterMarkdown(w io.Writer, t *ClusterTable) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Is my lock safe on my cluster?\n\nlockproof %s: %s.\n\n%s.\n", t.Tool, cell(t.Server), clusterLegend)
	if t.Interrupted {
		b.WriteString("\n**interrupted: this is what was measured until then**\n")
	}
	for _, fault := range t.Faults {
		rows := t.rows(fault)
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n| design | where | %s | told by |\n|%s\n", fault, strings.Join(t.Modes, " | "), strings.Repeat(" --- |", len(t.Modes)+3))
		for _, r := range rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.design, r.placement, strings.Join(r.cells, " | "), cell(strings.Join(r.told, "; ")))
		}
	}
	if t.Command != "" {
		fmt.Fprintf(&b, "\n    %s\n", t.Command)
	}
	_, err := io.WriteString(safetext.NewWriter(w), b.String())
	return err
}
