package cluster

import (
	_ "embed"
	"slices"
	"strings"
)

// page is the page for operators, whose tables are what was measured.
//
//go:embed README.md
var page string

// MeasuredVersion is the RabbitMQ with which the tables of the page were measured.
const MeasuredVersion = "3.10.8"

// Cell is what was measured of one design in one placement, under one fault and one mode.
type Cell struct {
	Fault  Fault
	Design string
	Where  string // the placement in words
	Mode   Mode
	// Said is the cell: for how many seconds two clients held the lock for certain, ∞ where neither was told, and the words
	// lost and stuck. Told is how holders were told, in all modes of the row.
	Said, Told string
}

// Wrong reports whether the lock failed in the cell.
func (c *Cell) Wrong() bool { return c.Said != "0" }

// Measured are the cells of the tables on the page. A placement that is not among them was measured, and nothing was wrong.
func Measured() (cells []Cell) {
	_, tables, _ := strings.Cut(page, "\n## What was measured\n")
	tables, _, _ = strings.Cut(tables, "\n## ")
	var fault Fault
	for line := range strings.Lines(tables) {
		if name, is := strings.CutPrefix(line, "### "); is {
			fault = Fault(strings.TrimSpace(name))
			continue
		}
		columns := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if fault == "" || len(columns) != 3+len(Modes) {
			continue
		}
		for i := range columns {
			columns[i] = strings.TrimSpace(columns[i])
		}
		if slices.Contains([]string{"design", "---"}, columns[0]) {
			continue
		}
		for i, mode := range Modes {
			cells = append(cells, Cell{
				Fault: fault, Design: columns[0], Where: columns[1], Mode: mode, Said: columns[2+i], Told: columns[2+len(Modes)],
			})
		}
	}
	return cells
}
