package histories

import (
	"strings"
	"unicode/utf8"
)

// table is rows of cells in aligned columns, two blanks apart.
type table struct {
	right []bool // columns that are aligned to the right
	rows  [][]span
}

func (t *table) add(cells ...span) { t.rows = append(t.rows, cells) }

// lines are the rows, indented.
func (t *table) lines(indent int) []line {
	widths := t.widths()
	var out []line
	for _, row := range t.rows {
		l := line{{text: strings.Repeat(" ", indent)}}
		for i, cell := range row {
			if i > 0 {
				l = append(l, span{text: "  "})
			}
			blank := span{text: strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell.text))}
			if i < len(t.right) && t.right[i] {
				l = append(l, blank, cell)
			} else {
				l = append(l, cell, blank)
			}
		}
		out = append(out, l)
	}
	return out
}

func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.text))
		}
	}
	return widths
}
