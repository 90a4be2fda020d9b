package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/safetext"
)

// WriteComparisonMarkdown writes a comparison as Markdown tables.
func WriteComparisonMarkdown(w io.Writer, c *Comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Which lock should I take?\n\nlockproof %s: %s.\n", c.Tool, cell(strings.Join(c.how(), "; ")))
	for _, said := range append(nonempty([]string{c.shortfall()}), c.missing()...) {
		fmt.Fprintf(&b, "\n**%s**\n", cell(said))
	}
	for i, said := range c.advice() {
		if i == 0 {
			b.WriteString("\n## Which one?\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", said)
	}
	for i, t := range c.tables() {
		if i == 0 || len(t.rows) > 0 {
			t.markdown(&b)
		}
	}
	if c.Command != "" {
		fmt.Fprintf(&b, "\n    %s\n", c.Command)
	}
	_, err := io.WriteString(safetext.NewWriter(w), b.String())
	return err
}

func (t *comparedTable) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n| server |", t.title, cell(t.legend))
	for _, name := range t.head {
		fmt.Fprintf(b, " %s |", cell(name))
	}
	fmt.Fprintf(b, " |\n|%s\n", strings.Repeat(" --- |", len(t.head)+2))
	for _, r := range t.rows {
		fmt.Fprintf(b, "| %s |", cell(r.server))
		for i := range t.head {
			text := ""
			if i < len(r.cells) {
				text = r.cells[i].Text
			}
			fmt.Fprintf(b, " %s |", cell(text))
		}
		fmt.Fprintf(b, " %s |\n", cell(strings.Join(r.notes, "; ")))
	}
}
