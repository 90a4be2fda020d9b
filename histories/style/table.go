package style

import (
	"strings"
	"unicode/utf8"
)

// Table has rows of cells in aligned columns. Two blanks separate the columns.
type Table struct {
	Right []bool // columns that are aligned on the right
	rows  [][]Span
}

// Add adds a row.
func (t *Table) Add(cells ...Span) { t.rows = append(t.rows, cells) }

// Lines are the rows with aligned columns, indented by a number of blanks.
func (t *Table) Lines(indent int) []Line {
	widths := t.widths()
	var out []Line
	for _, row := range t.rows {
		l := Line{{Text: strings.Repeat(" ", indent)}}
		for i, cell := range row {
			if i > 0 {
				l = append(l, Span{Text: "  "})
			}
			blank := Span{Text: strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell.Text))}
			if i < len(t.Right) && t.Right[i] {
				l = append(l, blank, cell)
			} else {
				l = append(l, cell, blank)
			}
		}
		out = append(out, l)
	}
	return out
}

func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.Text))
		}
	}
	return widths
}
