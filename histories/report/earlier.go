package report

import (
	"fmt"

	"github.com/lockproof/lockproof/histories/style"
)

// Earlier has the results of replaying the counterexamples of earlier runs, which a run does first. Files are named
// with their current paths.
type Earlier struct {
	Again  []string // still violate their property
	Passed []string // pass now, but did not the last time
	Held   int      // number of those that passed the last time and still do
}

// Lines describe the results.
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

// card describes the results on the card, with one line for each as far as there is room.
func (e *Earlier) card(s style.Style) (out []style.Line) {
	for _, line := range e.Lines() {
		for _, text := range style.Wrap(style.Printable(line), s.Columns()-2) {
			out = append(out, style.Line{{Text: "  "}, {Text: text}})
		}
	}
	return out
}
