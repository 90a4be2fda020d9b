package adaptercheck

import (
	"fmt"
	"io"

	"github.com/lockproof/lockproof/histories/safetext"
)

// Printer prints the steps of a check as they come, and then how many there were of each kind.
type Printer struct {
	Out   io.Writer
	Color bool

	marks [3]int
}

var (
	markWords  = [...]string{Green: "green", Red: "red", Skipped: "skipped"}
	markColors = [...]string{Green: "32", Red: "31", Skipped: "33"}
)

// Step prints a step.
func (p *Printer) Step(s Step) {
	p.marks[s.Mark]++
	mark := fmt.Sprintf("%-7s", markWords[s.Mark])
	if p.Color {
		mark = "\x1b[" + markColors[s.Mark] + "m" + mark + "\x1b[m"
	}
	fmt.Fprintf(p.Out, "%s  %s  %-26s  %s\n", mark, s.Client, s.What, safetext.Escape(s.Came))
	if s.Expected != "" {
		fmt.Fprintf(p.Out, "             expected: %s\n", s.Expected)
	}
	if s.Advice != "" {
		fmt.Fprintf(p.Out, "             to do:    %s\n", s.Advice)
	}
}

// Sum prints the end.
func (p *Printer) Sum() {
	fmt.Fprintf(p.Out, "\n%d green, %d red, %d skipped\n", p.marks[Green], p.marks[Red], p.marks[Skipped])
	if p.marks[Red] > 0 {
		fmt.Fprintln(p.Out, "mend what is red before proving anything")
	}
}
