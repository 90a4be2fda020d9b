package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// WriteSweep prints a table of configurations in plain text. For each property it lists the values that cause
// violations.
func WriteSweep(w io.Writer, s *Sweep, st style.Style) error {
	return write(w, sweepLines(s, st), st)
}

func sweepLines(s *Sweep, st style.Style) []style.Line {
	out := []style.Line{{style.Dim.Of("lockproof " + s.Tool), style.Dim.Of(" · "), style.Bold.Of(style.Printable(s.Target)), style.Dim.Of(" · " + style.Plural(len(s.Rows), "configuration"))}}
	for _, text := range style.Fill(style.List(s.how()), " ", st.Columns()) {
		out = append(out, style.Line{style.Dim.Of(text)})
	}
	out = append(out, repeating(s.Command)...)
	if s.Interrupted {
		out = append(out, style.Line{style.Yellow.Of("interrupted: this is what was found until then")})
	}
	out = append(out, warnings([]string{s.shortfall(), s.leftOut()}, st)...)
	return append(append(out, nil), sweepProperties(s, st)...)
}

// sweepProperties has a line for each property, with what causes its violations.
func sweepProperties(s *Sweep, st style.Style) (out []style.Line) {
	const margin = 6
	t := style.Table{Right: []bool{false, true, true, true, true}}
	t.Add(style.Dim.Of("  property"), style.Dim.Of("proved"), style.Dim.Of("violated"), style.Dim.Of("undecided"), style.Dim.Of("untested"))
	for _, p := range s.Properties {
		tally := s.Tally(p)
		mark := style.Green.Of("✓ " + p.String())
		switch {
		case tally[Violated] > 0:
			mark = style.Red.Of("✗ " + p.String())
		case tally[Undecided]+tally[Passed] > 0:
			mark = style.Yellow.Of("? " + p.String())
		case tally[Proved] == 0:
			mark = style.Dim.Of("– " + p.String())
		}
		t.Add(mark, number(tally[Proved]), number(tally[Violated]), number(tally[Undecided]+tally[Passed]), number(tally[Skipped]))
	}
	for i, l := range t.Lines(2) {
		if out = append(out, l); i == 0 {
			continue
		}
		p := s.Properties[i-1]
		if causes := s.causes(p); causes != "" {
			out = append(out, style.Beside(nil, strings.Fields(style.Printable("lost with "+causes)), style.Plain, margin, st.Columns()-margin)...)
		}
		for k := range s.Examples {
			if e := &s.Examples[k]; e.Property == p {
				out = append(out, e.lines(margin, st)...)
			}
		}
	}
	return out
}

// number is a number in a table; 0 is blank.
func number(n int) style.Span {
	if n == 0 {
		return style.Span{}
	}
	return style.Plain.Of(style.Grouped(n))
}

// lines is the text about the counterexample.
func (e *SweepExample) lines(margin int, st style.Style) (out []style.Line) {
	said := fmt.Sprintf("%s: %s", e.inSteps(), e.Detail)
	out = style.Beside(nil, strings.Fields(style.Printable(said)), style.Red, margin, st.Columns()-margin)
	if e.Command != "" {
		out = append(out, style.Line{{Text: strings.Repeat(" ", margin)}, style.Dim.Of("see it: "), style.Bold.Of(style.Printable(e.Command))})
	}
	return out
}
