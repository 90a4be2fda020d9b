package adaptercheck

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/safetext"
)

// Printer prints the steps of a check as they come, and then how many there were of each kind.
type Printer struct {
	Out   io.Writer
	Color bool
	Width int // columns; 0 is as many as it takes

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
	about := fmt.Sprintf("  %s  %-26s  ", s.Client, s.What)
	p.beside(mark+about, utf8.RuneCountInString(about)+7, safetext.Escape(s.Came))
	const inset = "             expected: "
	if s.Expected != "" {
		p.beside(inset, len(inset), s.Expected)
	}
	if s.Advice != "" {
		p.beside("             to do:    ", len(inset), s.Advice)
	}
}

// narrowest is the narrowest column that text is printed in.
const narrowest = 36

// beside prints text that goes on below itself, behind a head that takes so many columns. Words stay whole, so that what a
// program said can be copied.
func (p *Printer) beside(head string, columns int, text string) {
	if p.Width == 0 {
		fmt.Fprintf(p.Out, "%s%s\n", head, text)
		return
	}
	line, width := "", max(p.Width-columns, narrowest)
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > width {
			fmt.Fprintf(p.Out, "%s%s\n", head, line)
			line, head = "", strings.Repeat(" ", columns)
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	fmt.Fprintf(p.Out, "%s%s\n", head, line)
}

// Sum prints the end.
func (p *Printer) Sum() {
	fmt.Fprintf(p.Out, "\n%d green, %d red, %d skipped\n", p.marks[Green], p.marks[Red], p.marks[Skipped])
	if p.marks[Red] > 0 {
		fmt.Fprintln(p.Out, "mend what is red, in the adapter or in the lock, before proving anything")
	}
}
