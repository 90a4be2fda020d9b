package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// WriteAtlas prints an atlas, the answers to open questions, in plain text.
func WriteAtlas(w io.Writer, a *Atlas, s style.Style) error {
	return write(w, atlasLines(a, s), s)
}

func atlasLines(a *Atlas, s style.Style) []style.Line {
	out := []style.Line{{style.Dim.Of("lockproof " + a.Tool), style.Bold.Of(" · " + a.Title)}}
	if a.Broker != "" {
		out = append(out, style.Line{style.Dim.Of("counterexamples replayed on " + style.Printable(a.Broker))})
	}
	out = append(out, warnings([]string{a.shortfall()}, s)...)
	for i := range a.Questions {
		out = append(out, nil)
		out = append(out, questionLines(&a.Questions[i], s)...)
	}
	if a.Needed != nil {
		out = append(out, nil)
		out = append(out, neededLines(a.Needed, s)...)
	}
	return out
}

func questionLines(q *Question, s style.Style) []style.Line {
	const margin = 4
	out := style.Beside(style.Line{style.Bold.Of(fmt.Sprintf("%2d.", q.Number))}, strings.Fields(q.Ask), style.Bold, margin, s.Columns()-margin)
	for i := range q.Rows {
		out = append(out, rowLines(&q.Rows[i], s)...)
	}
	colour := style.Plain
	if len(q.Missing) > 0 {
		colour = style.Yellow
	}
	return append(out, style.Beside(style.Line{{Text: "  "}, style.Dim.Of("→")}, strings.Fields(style.Printable(q.conclusion())), colour, margin, s.Columns()-margin)...)
}

func rowLines(r *AtlasRow, s style.Style) []style.Line {
	const margin = 8
	mark := style.Green.Of("✓")
	switch {
	case len(r.Violated()) > 0:
		mark = style.Red.Of("✗")
	case len(r.Figures) > 0:
		mark = style.Dim.Of("#")
	}
	head := style.Line{{Text: "    "}, mark, style.Plain.Of(" " + style.Printable(r.Setting))}
	out := []style.Line{append(head, style.Dim.Of("  "+r.Bounds))}
	if out[0].Width() > s.Columns() {
		out = append([]style.Line{head}, style.Beside(nil, strings.Fields(r.Bounds), style.Dim, margin, s.Columns()-margin)...)
	}
	for _, v := range r.Violated() {
		text := fmt.Sprintf("%s violated %s: %s", v.Property, v.inSteps(), style.Printable(v.Detail))
		if v.Real != "" {
			text += "; " + v.Real
		}
		out = append(out, style.Beside(nil, strings.Fields(text), style.Red, margin, s.Columns()-margin)...)
	}
	said := append([]string{r.counts(Proved, Passed, Undecided)}, r.Figures...)
	if r.Space != nil {
		said = append(said, style.Plural(r.Space.States, "state"))
	}
	if len(r.Ends) > 1 {
		said = append(said, "slots in the end: "+strings.Join(r.Ends, " or "))
	}
	said = append(said, r.Seen...)
	if c := r.cost(); c != "" {
		said = append(said, "commands/round trips: "+c)
	}
	if len(r.Answered) > 0 {
		said = append(said, "answered: "+strings.Join(r.Answered, ", "))
	}
	said = append(said, r.Same)
	out = append(out, style.Beside(nil, style.List(nonempty(said)), style.Dim, margin, s.Columns()-margin)...)
	return out
}

func neededLines(n *Needed, s style.Style) []style.Line {
	out := []style.Line{{style.Bold.Of("What no lock can do without")}}
	text := fmt.Sprintf("Of %s of options, %d have every property proved (%s). They are those with all of:",
		style.Plural(n.Tried, "combination"), n.Proved, n.Bounds)
	out = append(out, style.Beside(nil, strings.Fields(text), style.Plain, 4, s.Columns()-4)...)
	for _, o := range n.Smallest {
		var lost []string
		for _, v := range o.Lost {
			lost = append(lost, fmt.Sprintf("%s %s", v.Property, v.inSteps()))
		}
		out = append(out, style.Beside(style.Line{{Text: "    "}, style.Bold.Of(o.Option)}, strings.Fields("without it: "+strings.Join(lost, ", ")), style.Red, 24, s.Columns()-24)...)
	}
	out = append(out, style.Beside(nil, strings.Fields("It makes no difference then: "+strings.Join(n.Free, "; ")+"."), style.Dim, 4, s.Columns()-4)...)
	return append(out, style.Beside(nil, strings.Fields(n.AnyNumber()), style.Plain, 4, s.Columns()-4)...)
}
