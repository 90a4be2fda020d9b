package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// outcomes are the headlines for the outcomes of a run.
var outcomes = map[Outcome]string{
	OutcomeHolds: "✓ all that was judged holds", OutcomeViolated: "✗ violated", OutcomeInterrupted: "interrupted",
	OutcomeKnown: "nothing new is violated", OutcomeInconclusive: "inconclusive: an answer is missing",
}

// maxDrawn is the largest size of a summary's diagrams, in bytes. A service may refuse a summary of more than a
// megabyte.
const maxDrawn = 200 << 10

// WriteSummary writes a report as Markdown, for the page of a job in continuous integration. It has the outcome, each
// violation with its execution and the command that repeats it, and a table of verdicts.
func WriteSummary(w io.Writer, r *Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## lockproof: %s: %s\n\n", inline(r.Target), outcomes[r.Outcome()])
	fmt.Fprintf(&b, "%s\n", inline(strings.Join(howMuch(r), " · ")))
	if len(r.Fixed) > 0 {
		fmt.Fprintf(&b, "with %s\n", inline(strings.Join(r.Fixed, " · ")))
	}
	if r.Outcome() == OutcomeInconclusive {
		for _, line := range r.Missing() {
			fmt.Fprintf(&b, "\n- %s\n", inline(line))
		}
	}
	drawn := 0
	for i := range r.Properties {
		if p := &r.Properties[i]; p.Violation != nil {
			if r.DrawnAt(p) == "" {
				drawn += len(p.Violation.Diagram)
			}
			r.summarize(&b, p, drawn <= maxDrawn)
		}
	}
	fmt.Fprint(&b, "\n| verdict | property | checks | |\n| --- | --- | ---: | --- |\n")
	for _, p := range r.ordered() {
		verdict, _ := r.Verdict(p)
		said, _ := remark(r, p)
		checks := ""
		if verdict != Skipped {
			checks = style.Grouped(p.Checked)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", verdictMarks[verdict].Text, p.Name(), checks, inline(said))
	}
	for _, line := range r.Earlier.Lines() {
		fmt.Fprintf(&b, "\n- %s\n", inline(line))
	}
	if r.Command != "" {
		fmt.Fprintf(&b, "\nRepeat it:\n\n%s", fenced(r.Command))
	}
	fmt.Fprintf(&b, "\nlockproof %s\n", inline(r.Tool))
	_, err := io.WriteString(w, b.String())
	return err
}

// summarize writes the section about a violation. drawn says whether to add the diagram of its execution.
func (r *Report) summarize(b *strings.Builder, p *PropertyResult, drawn bool) {
	v := p.Violation
	verdict, _ := r.Verdict(p)
	fmt.Fprintf(b, "\n### %s is %s\n\n%s\n", p.Name(), verdict, inline(v.Detail))
	for _, said := range v.Why() {
		fmt.Fprintf(b, "\n%s\n", inline(said))
	}
	for _, said := range v.Errors {
		fmt.Fprintf(b, "\n> %s\n", inline(said))
	}
	if where := r.where(p); where != "" {
		fmt.Fprintf(b, "\n%s\n", inline(where))
	}
	if v.Known != nil {
		fmt.Fprintf(b, "\n%s\n", inline(r.known(p)))
	}
	if v.Command != "" {
		fmt.Fprintf(b, "\n%s", fenced(v.Command))
	}
	if at := r.DrawnAt(p); at != "" {
		fmt.Fprintf(b, "\nThe execution is the one drawn at %s.\n", at)
	} else if v.Diagram != "" && drawn {
		fmt.Fprintf(b, "\n<details><summary>the execution</summary>\n\n%s\n</details>\n", fenced(strings.TrimRight(v.Diagram, "\n")))
	}
}

// inline escapes text for Markdown, so that nothing in it is taken for Markdown or HTML, and it does not end a table's
// cell.
func inline(text string) string {
	return inMarkdown.Replace(strings.Join(strings.Fields(style.Printable(text)), " "))
}

var inMarkdown = strings.NewReplacer(
	"|", "\\|", "<", "&lt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "#", "\\#", "\\", "\\\\", "!", "\\!",
)

// fenced writes text as a Markdown code block. The fence is longer than any in the text.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	var b strings.Builder
	b.WriteString(fence + "text\n")
	for line := range strings.Lines(text) {
		b.WriteString(style.Printable(strings.TrimSuffix(line, "\n")) + "\n")
	}
	b.WriteString(fence + "\n")
	return b.String()
}
