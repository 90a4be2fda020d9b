package histories

import (
	"fmt"
	"io"
	"strings"
)

// WriteSweep prints what a table of configurations comes to for a person: by property, what loses it.
func WriteSweep(w io.Writer, s *Sweep, style Style) error {
	var b strings.Builder
	for _, l := range sweepLines(s, style) {
		style.paint(&b, l)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func sweepLines(s *Sweep, style Style) []line {
	out := []line{{{"lockproof " + s.Tool, dim}, {" · ", dim}, {printable(s.Target), bold}, {" · " + plural(len(s.Rows), "configuration"), dim}}}
	for _, text := range fill(list(s.how()), " ", style.width()) {
		out = append(out, line{{text, dim}})
	}
	if s.Command != "" {
		out = append(out, line{{"repeat it: ", dim}, {printable(s.Command), plain}})
	}
	if s.Interrupted {
		out = append(out, line{{"interrupted: this is what was found until then", yellow}})
	}
	for _, said := range nonempty([]string{s.shortfall(), s.leftOut()}) {
		for _, text := range wrap(printable(said), style.width()) {
			out = append(out, line{{text, yellow}})
		}
	}
	return append(append(out, nil), sweepProperties(s, style)...)
}

// sweepProperties is a line for each property, and what loses it.
func sweepProperties(s *Sweep, style Style) (out []line) {
	const margin = 6
	t := table{right: []bool{false, true, true, true, true}}
	t.add(span{"  property", dim}, span{"proved", dim}, span{"violated", dim}, span{"undecided", dim}, span{"untested", dim})
	for _, p := range s.Properties {
		tally := s.Tally(p)
		mark := span{"✓ " + p.String(), green}
		if tally[Violated] > 0 {
			mark = span{"✗ " + p.String(), red}
		}
		t.add(mark, number(tally[Proved]), number(tally[Violated]), number(tally[Undecided]+tally[Passed]), number(tally[Skipped]))
	}
	for i, l := range t.lines(2) {
		if out = append(out, l); i == 0 {
			continue
		}
		p := s.Properties[i-1]
		if causes := s.causes(p); causes != "" {
			out = append(out, beside(nil, strings.Fields(printable("lost with "+causes)), plain, margin, style.width()-margin)...)
		}
		for k := range s.Examples {
			if e := &s.Examples[k]; e.Property == p {
				out = append(out, e.lines(margin, style)...)
			}
		}
	}
	return out
}

// number is a number in a table, where nothing stands for 0.
func number(n int) span {
	if n == 0 {
		return span{}
	}
	return span{grouped(n), plain}
}

// lines is what the card tells of a counterexample.
func (e *SweepExample) lines(margin int, style Style) (out []line) {
	said := fmt.Sprintf("%s: %s", e.inSteps(), e.Detail)
	out = beside(nil, strings.Fields(printable(said)), red, margin, style.width()-margin)
	if e.Command != "" {
		out = append(out, line{{text: strings.Repeat(" ", margin)}, {"see it: ", dim}, {printable(e.Command), bold}})
	}
	return out
}
