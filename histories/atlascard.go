package histories

import (
	"fmt"
	"io"
	"strings"
)

// WriteAtlas prints an atlas for a person.
func WriteAtlas(w io.Writer, a *Atlas, s Style) error {
	var b strings.Builder
	for _, l := range atlasLines(a, s) {
		s.paint(&b, l)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func atlasLines(a *Atlas, s Style) []line {
	out := []line{{{"lockproof " + a.Tool, dim}, {" · the guidelines' open questions", bold}}}
	if a.Broker != "" {
		out = append(out, line{{"counterexamples replayed on " + printable(a.Broker), dim}})
	}
	if short := a.shortfall(); short != "" {
		for _, text := range wrap(printable(short), s.width()) {
			out = append(out, line{{text, yellow}})
		}
	}
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

func questionLines(q *Question, s Style) []line {
	const margin = 4
	out := beside(line{{fmt.Sprintf("%2d.", q.Number), bold}}, strings.Fields(q.Ask), bold, margin, s.width()-margin)
	for i := range q.Rows {
		out = append(out, rowLines(&q.Rows[i], s)...)
	}
	ink := plain
	if len(q.Missing) > 0 {
		ink = yellow
	}
	return append(out, beside(line{{text: "  "}, {"→", dim}}, strings.Fields(printable(q.conclusion())), ink, margin, s.width()-margin)...)
}

func rowLines(r *AtlasRow, s Style) []line {
	const margin = 8
	mark := span{"✓", green}
	if len(r.Violated()) > 0 {
		mark = span{"✗", red}
	}
	head := line{{text: "    "}, mark, {" " + printable(r.Setting), plain}, {"  " + r.Bounds, dim}}
	out := []line{head}
	for _, v := range r.Violated() {
		text := fmt.Sprintf("%s violated %s: %s", v.Property, v.inSteps(), printable(v.Detail))
		if v.Real != "" {
			text += "; " + v.Real
		}
		out = append(out, beside(nil, strings.Fields(text), red, margin, s.width()-margin)...)
	}
	said := []string{r.counts(Proved, Passed, Undecided)}
	if r.Space != nil {
		said = append(said, plural(r.Space.States, "state"))
	}
	if len(r.Ends) > 1 {
		said = append(said, "slots in the end: "+strings.Join(r.Ends, " or "))
	}
	said = append(said, r.Seen...)
	if c := r.cost(); c != "" {
		said = append(said, "commands/round trips: "+c)
	}
	out = append(out, beside(nil, list(nonempty(said)), dim, margin, s.width()-margin)...)
	return out
}

func nonempty(items []string) (out []string) {
	for _, item := range items {
		if item != "" {
			out = append(out, item)
		}
	}
	return out
}

func neededLines(n *Needed, s Style) []line {
	out := []line{{{"What no lock can do without", bold}}}
	text := fmt.Sprintf("Of %s of options, %d have every property proved (%s). They are those with all of:",
		plural(n.Tried, "combination"), n.Proved, n.Bounds)
	out = append(out, beside(nil, strings.Fields(text), plain, 4, s.width()-4)...)
	for _, o := range n.Smallest {
		var lost []string
		for _, v := range o.Lost {
			lost = append(lost, fmt.Sprintf("%s %s", v.Property, v.inSteps()))
		}
		out = append(out, beside(line{{text: "    "}, {o.Option, bold}}, strings.Fields("without it: "+strings.Join(lost, ", ")), red, 24, s.width()-24)...)
	}
	return append(out, beside(nil, strings.Fields("It makes no difference then: "+strings.Join(n.Free, "; ")+"."), dim, 4, s.width()-4)...)
}
