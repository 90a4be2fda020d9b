package adaptercheck

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/safetext"
)

// Printer prints the steps of a check, and at the end the number of steps of each kind.
type Printer struct {
	Out   io.Writer
	Color bool
	Width int // maximum number of columns; 0 is no maximum

	marks [3]int
}

var (
	markWords  = [...]string{Green: "green", Red: "red", Skipped: "skipped"}
	markColors = [...]string{Green: "32", Red: "31", Skipped: "33"}
)

// Step prints one step of the check.
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

// narrowest is the minimum width of a column of text.
const narrowest = 36

// beside prints text after head, which is columns wide. Further lines of the text begin in the same column. Words are
// not broken, so that a program's text can be copied.
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

// Sum prints the number of steps of each kind.
func (p *Printer) Sum() {
	fmt.Fprintf(p.Out, "\n%d green, %d red, %d skipped\n", p.marks[Green], p.marks[Red], p.marks[Skipped])
	if p.marks[Red] > 0 {
		fmt.Fprintln(p.Out, "mend what is red, in the adapter or in the lock, before proving anything")
	}
}
