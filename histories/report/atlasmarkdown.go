package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/style"
)

// WriteAtlasMarkdown writes an atlas as Markdown tables.
func WriteAtlasMarkdown(w io.Writer, a *Atlas) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, answered\n\nlockproof %s. Every execution within the bounds was visited; no counterexample is shorter, but where ≤ stands before its steps.\n", a.heading(), a.Tool)
	if a.Broker != "" {
		fmt.Fprintf(&b, "Counterexamples were replayed, step by step, on %s.\n", cell(a.Broker))
	}
	if short := a.shortfall(); short != "" {
		fmt.Fprintf(&b, "\n**%s**\n", short)
	}
	for i := range a.Questions {
		a.Questions[i].markdown(&b, a.Broker != "")
	}
	if a.Needed != nil {
		a.Needed.markdown(&b)
	}
	_, err := io.WriteString(safetext.NewWriter(w), b.String())
	return err
}

func (q *Question) markdown(b *strings.Builder, real bool) {
	fmt.Fprintf(b, "\n## %d. %s\n\n%s\n\n", q.Number, q.Ask, q.conclusion())
	head, rule := "| setting | bounds | violated (steps) | proved, or undecided | slots in the end | commands/round trips |", "| --- | --- | --- | --- | --- | --- |"
	if real {
		head, rule = head+" real server |", rule+" --- |"
	}
	fmt.Fprintln(b, head)
	fmt.Fprintln(b, rule)
	for i := range q.Rows {
		r := &q.Rows[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |", cell(r.Setting), cell(r.Bounds), cell(r.violations()), cell(r.counts(Proved, Undecided)),
			cell(strings.Join(r.Ends, " ")), cell(r.measured()))
		if real {
			fmt.Fprintf(b, " %s |", cell(r.real()))
		}
		fmt.Fprintln(b)
	}
	fmt.Fprintln(b)
	for i := range q.Rows {
		fmt.Fprintf(b, "    %s\n", q.Rows[i].Command)
	}
}

// measured is the text in a row's cell for costs. It has the costs of operations and the server's answers, or the
// figures of a row without executions.
func (r *AtlasRow) measured() string {
	if len(r.Figures) > 0 {
		return strings.Join(r.Figures, "; ")
	}
	return r.costAnswered()
}

// costAnswered has the costs of operations and, for a measured row, the server's answers.
func (r *AtlasRow) costAnswered() string {
	if len(r.Answered) == 0 {
		return r.cost()
	}
	return r.cost() + "; answered: " + strings.Join(r.Answered, ", ")
}

// violations lists the violated properties, each with its number of steps.
func (r *AtlasRow) violations() string {
	var out []string
	for _, v := range r.Violated() {
		out = append(out, fmt.Sprintf("%s (%s)", v.Property, v.AtMost()))
	}
	return strings.Join(out, ", ")
}

func (n *Needed) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## What no lock can do without\n\nOf %d combinations of options, %d have every property proved: those with all of the following. (%s.)\n\n", n.Tried, n.Proved, n.Bounds)
	fmt.Fprint(b, "| option | lost without it (steps) |\n| --- | --- |\n")
	for _, o := range n.Smallest {
		row := AtlasRow{Verdicts: o.Lost}
		fmt.Fprintf(b, "| %s | %s |\n", cell(o.Option), cell(row.violations()))
	}
	fmt.Fprintf(b, "\nNo difference makes: %s.\n", strings.Join(n.Free, "; "))
	if n.Any != nil {
		fmt.Fprintf(b, "\n%s\n", cell(n.AnyNumber()))
	}
}

// cell escapes text for a cell of a Markdown table. The text cannot end the cell, and contains no HTML or link.
func cell(text string) string { return inCell.Replace(style.Printable(text)) }

var inCell = strings.NewReplacer("|", "\\|", "<", "&lt;", "&", "&amp;", "[", "\\[")
