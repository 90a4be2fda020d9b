package histories

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// WriteCard prints a report for a person: what was run, each property with its verdict and how often
// it was put to the test, each violation with the command that repeats it, what operations cost, and
// what never happened.
func WriteCard(w io.Writer, r *Report, s Style) error {
	var b strings.Builder
	for _, l := range cardLines(r, s) {
		s.paint(&b, l)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func cardLines(r *Report, s Style) []line {
	var out []line
	for _, part := range [][]line{
		cardHead(r, s), cardProperties(r, s), cardSpace(r, s), cardViews(r, s), cardRuns(r, s), cardEfficiency(r, s), cardNotes(r, s), append(cardTotal(r), cardMissing(r, s)...),
	} {
		if len(part) > 0 && len(out) > 0 {
			out = append(out, nil)
		}
		out = append(out, part...)
	}
	return out
}

func cardHead(r *Report, s Style) []line {
	head := []line{{{"lockproof " + r.Tool, dim}, {" · ", dim}, {printable(r.Target), bold}}}
	if r.Doc != "" {
		for _, text := range wrap(printable(r.Doc), s.width()) {
			head = append(head, line{{text: text}})
		}
	}
	words := list(howMuch(r))
	if r.Bounds != "" { // the bounds are more than a line has room for
		words = strings.Fields(strings.Join(words, " "))
	}
	for _, text := range fill(words, " ", s.width()) {
		head = append(head, line{{text, dim}})
	}
	if len(r.Fixed) > 0 {
		head = append(head, beside(line{{"with ", dim}}, list(r.Fixed), plain, len("with "), s.width()-len("with "))...)
	}
	if r.Command != "" {
		head = append(head, line{{"repeat it: ", dim}, {printable(r.Command), plain}})
	}
	if r.Interrupted {
		head = append(head, line{{"interrupted: this is what was found until then", yellow}})
	}
	return head
}

// howMuch is what was run.
func howMuch(r *Report) []string {
	var parts []string
	executions := plural(r.Scenarios, "execution")
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
			parts = append(parts, printable(r.Bounds))
		}
	case Replayed:
		parts = append(parts, "one execution replayed from "+printable(r.Source))
	case Recorded:
		parts = append(parts, "the history "+printable(r.Source))
	}
	if r.Broker != "" {
		parts[0] += " on " + printable(r.Broker)
	}
	if r.Elapsed > 0 {
		parts[0] += " in " + took(r.Elapsed)
	}
	if r.Commands > 0 {
		parts = append(parts, plural(r.Commands, "command"))
	}
	if r.Operations > 0 {
		parts = append(parts, plural(r.Operations, "operation"))
	}
	return parts
}

// within is of what the executions are, in words.
func (r *Report) within() string {
	if r.Bounds == "" {
		return ""
	}
	return " of " + printable(r.Bounds)
}

// took is a duration as a person reads it.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

var verdictMarks = map[Verdict]span{
	Proved: {"✓ proved", green}, Passed: {"✓ passed", green}, Violated: {"✗ violated", red},
	Suspected: {"? suspected", red}, Undecided: {"? undecided", yellow}, Skipped: {"– skipped", yellow},
}

// minSentence is the narrowest column that sentences are still worth printing in.
const minSentence = 44

func cardProperties(r *Report, s Style) []line {
	var told []*PropertyResult
	indent := indentOf(r)
	together := skippedTogether(r)
	for i := range r.Properties {
		if p := &r.Properties[i]; together[p.Skip] == nil || p.Violation != nil {
			told = append(told, p)
		}
	}
	t := table{right: []bool{false, false, true}}
	if len(told) > 0 {
		t.add(span{"  verdict", dim}, span{"property", dim}, span{"checked", dim})
	}
	for _, p := range told {
		verdict, _ := r.Verdict(p)
		checked := ""
		if verdict != Skipped {
			checked = grouped(p.Checked) + " ×"
		}
		t.add(verdictMarks[verdict], span{p.Property.String(), plain}, span{checked, plain})
	}
	var out []line
	for i, l := range t.lines(2) {
		if i == 0 {
			out = append(out, l)
			continue
		}
		p := told[i-1]
		said, ink := remark(r, p)
		if margin := l.width() + 2; s.width()-margin >= minSentence || ink != dim {
			out = append(out, beside(l, strings.Fields(said), ink, margin, max(s.width()-margin, 24))...)
		} else {
			out = append(out, l)
		}
		out = append(out, r.violation(p, indent, s)...)
	}
	for _, reason := range slices.Sorted(maps.Keys(together)) {
		out = append(out, beside(line{{text: "  "}, verdictMarks[Skipped]}, list(together[reason]), plain, indent, s.width()-indent)...)
		out = append(out, beside(nil, strings.Fields(printable(reason)), yellow, indent, s.width()-indent)...)
	}
	return out
}

// indentOf is where the names of properties begin, and what is said of a violation.
func indentOf(r *Report) int {
	widest := len("violated") + 2
	for i := range r.Properties {
		verdict, _ := r.Verdict(&r.Properties[i])
		widest = max(widest, utf8.RuneCountInString(verdictMarks[verdict].text))
	}
	return widest + 4
}

// skippedTogether are the properties that are told of in one go, by reason: where many were skipped for
// the same one, it is said once.
func skippedTogether(r *Report) map[string][]string {
	const many = 4
	together := make(map[string][]string)
	for i := range r.Properties {
		if p := &r.Properties[i]; p.Skip != "" && p.Violation == nil {
			together[p.Skip] = append(together[p.Skip], p.Property.String())
		}
	}
	maps.DeleteFunc(together, func(_ string, names []string) bool { return len(names) < many })
	return together
}

// beside puts words on the right of a line, from a margin on.
func beside(l line, words []string, ink ink, margin, width int) []line {
	var out []line
	for _, part := range fill(words, " ", width) {
		out = append(out, append(l.pad(margin), span{part, ink}))
		l = nil
	}
	return out
}

// remark is what stands beside a verdict: the property's sentence, or why there is no verdict.
func remark(r *Report, p *PropertyResult) (string, ink) {
	verdict, reason := r.Verdict(p)
	if verdict == Skipped {
		return printable(reason), yellow
	}
	said := p.Property.Sentence(r.Kind)
	if p.Note != "" {
		said += " (" + p.Note + ")"
	}
	switch {
	case verdict == Undecided:
		return said + "; " + printable(reason), yellow
	case p.Violation != nil:
		return said, plain
	}
	return said, dim
}

// violation is what the card tells of a counterexample, under its property.
func (r *Report) violation(p *PropertyResult, indent int, s Style) []line {
	f := p.Violation
	if f == nil {
		return nil
	}
	var out []line
	for _, text := range wrap(printable(f.Detail), s.width()-indent) {
		out = append(out, line{{text: strings.Repeat(" ", indent)}, {text, red}})
	}
	for _, said := range f.Errors {
		for _, text := range wrap(printable(said), s.width()-indent) {
			out = append(out, line{{text: strings.Repeat(" ", indent)}, {text: text}})
		}
	}
	if where := r.where(p); where != "" {
		for _, text := range wrap(where, s.width()-indent) {
			out = append(out, line{{text: strings.Repeat(" ", indent)}, {text, dim}})
		}
	}
	if f.Command != "" {
		out = append(out, line{{text: strings.Repeat(" ", indent)}, {"see it: ", dim}, {printable(f.Command), bold}})
	}
	return out
}

// cardTotal is the last line: the verdicts counted.
func cardTotal(r *Report) []line {
	if len(r.Properties) == 0 {
		return nil
	}
	counts := make(map[Verdict]int)
	for i := range r.Properties {
		verdict, _ := r.Verdict(&r.Properties[i])
		counts[verdict]++
	}
	out := line{{plural(len(r.Properties), "property") + ": ", bold}}
	sep := ""
	for _, v := range []Verdict{Proved, Passed, Violated, Suspected, Undecided, Skipped} {
		if counts[v] == 0 {
			continue
		}
		out = append(out, span{text: sep}, span{fmt.Sprintf("%d %s", counts[v], v), verdictMarks[v].ink})
		sep = ", "
	}
	return []line{out}
}
