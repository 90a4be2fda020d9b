package report

import (
	"fmt"

	"github.com/lockproof/lockproof/histories/style"
)

// Earlier has the results of replaying the counterexamples of earlier runs. A run does this first. Files are given by
// their present paths.
type Earlier struct {
	Again  []string // files of the counterexamples that violate their property again
	Passed []string // files of the counterexamples that pass now, but did not the last time
	Held   int      // number of counterexamples that passed the last time and still pass
}

// Lines describes the results in words, one line for each file that is named.
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

// card describes the results for the card, wrapped to its width.
func (e *Earlier) card(s style.Style) (out []style.Line) {
	for _, line := range e.Lines() {
		for _, text := range style.Wrap(style.Printable(line), s.Columns()-2) {
			out = append(out, style.Line{{Text: "  "}, {Text: text}})
		}
	}
	return out
}
