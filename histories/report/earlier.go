package report

import (
	"fmt"

	"github.com/lockproof/lockproof/histories/style"
)

// Earlier is what became of the counterexamples that earlier runs have left, which are carried out first. Files are where
// they are now.
type Earlier struct {
	Again  []string // those whose execution violates its property again
	Passed []string // those that pass now, and did not the last time
	Held   int      // how many passed the last time and pass again
}

// Lines are it in words.
func (e *Earlier) Lines() (lines []string) {
	for _, file := range e.Again {
		lines = append(lines, fmt.Sprintf("violated again, of an earlier run: %s", file))
	}
	for _, file := range e.Passed {
		lines = append(lines, fmt.Sprintf("passes now, of an earlier run: %s, which later runs carry out again", file))
	}
	if e.Held > 0 {
		lines = append(lines, "pass as before: "+style.Plural(e.Held, "counterexample")+" of earlier runs")
	}
	return lines
}

// card is it as the card tells it, a line each as far as there is room.
func (e *Earlier) card(s style.Style) (out []style.Line) {
	for _, line := range e.Lines() {
		for _, text := range style.Wrap(style.Printable(line), s.Columns()-2) {
			out = append(out, style.Line{{Text: "  "}, {Text: text}})
		}
	}
	return out
}
