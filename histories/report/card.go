package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/style"
)

// WriteCard prints a report as a card in plain text: the run, each property with its verdict and number of checks, and
// for each violation the command that repeats it. The costs of operations and the missed coverage points follow.
func WriteCard(w io.Writer, r *Report, s style.Style) error {
	return write(w, cardLines(r, s), s)
}

func cardLines(r *Report, s style.Style) []style.Line {
	var out []style.Line
	for _, part := range [][]style.Line{
		cardHead(r, s), cardProperties(r, s), r.Earlier.card(s), cardSpace(r, s), cardViews(r, s), cardRuns(r, s), cardEfficiency(r, s), cardNotes(r, s), append(cardTotal(r), cardMissing(r, s)...),
	} {
		if len(part) > 0 && len(out) > 0 {
			out = append(out, nil)
		}
		out = append(out, part...)
	}
	return out
}

func cardHead(r *Report, s style.Style) []style.Line {
	head := []style.Line{{style.Dim.Of("lockproof " + r.Tool), style.Dim.Of(" · "), style.Bold.Of(style.Printable(r.Target))}}
	if r.Doc != "" {
		for _, text := range style.Wrap(style.Printable(r.Doc), s.Columns()) {
			head = append(head, style.Line{{Text: text}})
		}
	}
	words := style.List(howMuch(r))
	if r.Bounds != "" { // the bounds need separate lines
		words = strings.Fields(strings.Join(words, " "))
	}
	for _, text := range style.Fill(words, " ", s.Columns()) {
		head = append(head, style.Line{style.Dim.Of(text)})
	}
	if len(r.Fixed) > 0 {
		head = append(head, style.Beside(style.Line{style.Dim.Of("with ")}, style.List(r.Fixed), style.Plain, len("with "), s.Columns()-len("with "))...)
	}
	head = append(head, repeating(r.Command)...)
	if r.Interrupted {
		head = append(head, style.Line{style.Yellow.Of("interrupted: this is what was found until then")})
	}
	return head
}

// howMuch says how executions were chosen, on which server, and how many there were.
func howMuch(r *Report) []string {
	var parts []string
	executions := style.Plural(r.Scenarios, "execution")
	if r.Scenarios < r.Asked {
		executions = style.Grouped(r.Scenarios) + " of " + style.Plural(r.Asked, "execution")
	}
	switch r.Mode {
	case Sampled:
		parts = append(parts, fmt.Sprintf("%s%s sampled from seed %d", executions, r.within(), r.Seed))
	case Visited:
		what := "every execution visited"
		if r.Views != nil {
			what = "every execution covered"
		}
		if !r.everything() {
			what = "executions visited, not all of them,"
		}
		parts = append(parts, what+r.within())
	case Stressed:
		parts = append(parts, executions+" as they happened")
		if r.Bounds != "" {
			parts = append(parts, style.Printable(r.Bounds))
		}
	case Replayed:
		parts = append(parts, "one execution replayed from "+style.Printable(r.Source))
	case Recorded:
		parts = append(parts, "the history "+style.Printable(r.Source))
	}
	if r.Broker != "" {
		parts[0] += " on " + style.Printable(r.Broker)
	}
	if r.Elapsed > 0 {
		parts[0] += " in " + took(r.Elapsed)
	}
	if r.Commands > 0 {
		parts = append(parts, style.Plural(r.Commands, "command"))
	}
	if r.Operations > 0 {
		parts = append(parts, style.Plural(r.Operations, "operation"))
	}
	return parts
}

// within says in which bounds the executions are, such as " of 3 clients"; "" if unknown.
func (r *Report) within() string {
	if r.Bounds == "" {
		return ""
	}
	return " of " + style.Printable(r.Bounds)
}

// took writes a duration, such as "12 ms" or "3.4 s".
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

var verdictMarks = map[Verdict]style.Span{
	Proved: style.Green.Of("✓ proved"), Passed: style.Green.Of("✓ passed"), Violated: style.Red.Of("✗ violated"),
	Suspected: style.Red.Of("? suspected"), Undecided: style.Yellow.Of("? undecided"), Skipped: style.Yellow.Of("– skipped"),
	Kept: style.Green.Of("✓ kept"), Broken: style.Yellow.Of("✗ broken"),
}

// minSentence is the smallest width, in characters, of the column with the properties' sentences.
const minSentence = 44

func cardProperties(r *Report, s style.Style) []style.Line {
	var told []*PropertyResult
	indent := indentOf(r)
	together := skippedTogether(r)
	for _, p := range r.ordered() {
		if together[p.Skip] == nil || p.Violation != nil {
			told = append(told, p)
		}
	}
	t := style.Table{Right: []bool{false, false, true}}
	if len(told) > 0 {
		t.Add(style.Dim.Of("  verdict"), style.Dim.Of("property"), style.Dim.Of("checks"))
	}
	for _, p := range told {
		verdict, _ := r.Verdict(p)
		checked := ""
		if verdict != Skipped {
			checked = style.Grouped(p.Checked)
		}
		t.Add(verdictMarks[verdict], style.Plain.Of(p.Name()), style.Plain.Of(checked))
	}
	var out []style.Line
	for i, l := range t.Lines(2) {
		if i == 0 {
			out = append(out, l)
			continue
		}
		p := told[i-1]
		if r.Contract != nil && (i == 1 || partOf(p) != partOf(told[i-2])) {
			out = append(out, r.heading(partOf(p), s)...)
		}
		said, colour := remark(r, p)
		if margin := l.Width() + 2; s.Columns()-margin >= minSentence || colour != style.Dim {
			out = append(out, style.Beside(l, strings.Fields(said), colour, margin, max(s.Columns()-margin, 24))...)
		} else {
			out = append(out, l)
		}
		out = append(out, r.violation(p, indent, s)...)
	}
	for _, reason := range slices.Sorted(maps.Keys(together)) {
		out = append(out, style.Beside(style.Line{{Text: "  "}, verdictMarks[Skipped]}, style.List(together[reason]), style.Plain, indent, s.Columns()-indent)...)
		out = append(out, style.Beside(nil, strings.Fields(style.Printable(reason)), style.Yellow, indent, s.Columns()-indent)...)
	}
	return out
}

// indentOf is the column in which the names of properties and the texts about violations begin.
func indentOf(r *Report) int {
	widest := len("violated") + 2
	for i := range r.Properties {
		verdict, _ := r.Verdict(&r.Properties[i])
		widest = max(widest, utf8.RuneCountInString(verdictMarks[verdict].Text))
	}
	return widest + 4
}

// skippedTogether maps a reason to the properties that were skipped for it, if there are at least four. They share a
// line.
func skippedTogether(r *Report) map[string][]string {
	const many = 4
	together := make(map[string][]string)
	for i := range r.Properties {
		if p := &r.Properties[i]; p.Skip != "" && p.Violation == nil {
			together[p.Skip] = append(together[p.Skip], p.Name())
		}
	}
	maps.DeleteFunc(together, func(_ string, names []string) bool { return len(names) < many })
	return together
}

// remark is the text next to a verdict: the property's sentence, or the reason why there is no verdict.
func remark(r *Report, p *PropertyResult) (string, style.Colour) {
	verdict, reason := r.Verdict(p)
	if verdict == Skipped {
		return style.Printable(reason), style.Yellow
	}
	said := r.sentence(p)
	if p.Note != "" {
		said += " (" + p.Note + ")"
	}
	if of := r.Runs.bounded(verdict); of != "" {
		said = of + ": " + said
	}
	switch {
	case verdict == Broken:
		return said + "; " + style.Printable(reason), style.Yellow
	case verdict == Undecided:
		return said + "; " + style.Printable(reason), style.Yellow
	case p.Violation != nil:
		return said, style.Plain
	}
	return said, style.Dim
}

// violation is the text about a counterexample, under its property.
func (r *Report) violation(p *PropertyResult, indent int, s style.Style) []style.Line {
	f := p.Violation
	if f == nil {
		return nil
	}
	var out []style.Line
	for _, text := range style.Wrap(style.Printable(f.Detail), s.Columns()-indent) {
		out = append(out, style.Line{{Text: strings.Repeat(" ", indent)}, style.Red.Of(text)})
	}
	for _, said := range append(f.Why(), f.Errors...) {
		for _, text := range style.Wrap(style.Printable(said), s.Columns()-indent) {
			out = append(out, style.Line{{Text: strings.Repeat(" ", indent)}, {Text: text}})
		}
	}
	if where := r.where(p); where != "" {
		for _, text := range style.Wrap(where, s.Columns()-indent) {
			out = append(out, style.Line{{Text: strings.Repeat(" ", indent)}, style.Dim.Of(text)})
		}
	}
	if f.Known != nil {
		for _, text := range style.Wrap(style.Printable(r.known(p)), s.Columns()-indent) {
			out = append(out, style.Line{{Text: strings.Repeat(" ", indent)}, style.Yellow.Of(text)})
		}
	}
	if f.Command != "" {
		out = append(out, style.Line{{Text: strings.Repeat(" ", indent)}, style.Dim.Of("see it: "), style.Bold.Of(style.Printable(f.Command))})
	}
	return out
}

// cardTotal is the last line of the card: how many properties have each verdict.
func cardTotal(r *Report) []style.Line {
	if len(r.Properties) == 0 {
		return nil
	}
	counts := make(map[Verdict]int)
	for i := range r.Properties {
		verdict, _ := r.Verdict(&r.Properties[i])
		counts[verdict]++
	}
	out := style.Line{style.Bold.Of(style.Plural(len(r.Properties), "property") + ": ")}
	sep := ""
	for _, v := range []Verdict{Proved, Passed, Kept, Violated, Suspected, Broken, Undecided, Skipped} {
		if counts[v] == 0 {
			continue
		}
		out = append(out, style.Span{Text: sep}, verdictMarks[v].Colour.Of(fmt.Sprintf("%d %s", counts[v], v)))
		sep = ", "
	}
	return []style.Line{out}
}
