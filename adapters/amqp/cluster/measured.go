package cluster

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/nemesis"
)

// page is the page for operators, whose tables contain the measurements.
//
//go:embed README.md
var page string

// MeasuredVersions are the versions of RabbitMQ in the tables of the page. The first was measured under all modes.
var MeasuredVersions = []string{"3.10.8", "4.0.5", "4.0.5 with Khepri", "4.3.6"}

// Cell is the measurement of one design in one placement, under one fault and one mode.
type Cell struct {
	Version string // of RabbitMQ, one of [MeasuredVersions]
	Fault   nemesis.Fault
	Design  string
	Where   string // the placement in words
	Mode    Mode
	// Said is the text of the cell: for how many seconds two clients held the lock for certain, ∞ if neither was told, and
	// the words lost and stuck. If the cell was measured several times, there are several results, separated by commas. Told
	// says how holders were told, in all cells of the row.
	Said, Told string
}

// Measured are the cells of the tables on the page. A placement that is missing there was measured without a failure.
func Measured() (cells []Cell) {
	var fault nemesis.Fault
	var columns []Cell // the columns of a table
	for line := range strings.Lines(page) {
		if title, is := strings.CutPrefix(line, "## "); is {
			fault, columns = "", columnsOf(strings.TrimSpace(title))
		}
		if name, is := strings.CutPrefix(line, "### "); is {
			fault = nemesis.Fault(strings.TrimSpace(name))
		}
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if fault == "" || len(row) != 3+len(columns) {
			continue
		}
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if slices.Contains([]string{"design", "---"}, row[0]) {
			continue
		}
		for i, c := range columns {
			c.Fault, c.Design, c.Where, c.Said, c.Told = fault, row[0], row[1], row[2+i], row[2+len(columns)]
			cells = append(cells, c)
		}
	}
	return cells
}

// columnsOf are the columns of the tables in a section.
func columnsOf(title string) (columns []Cell) {
	switch title {
	case "What was measured":
		for _, mode := range Modes {
			columns = append(columns, Cell{Version: MeasuredVersions[0], Mode: mode})
		}
	case "What newer versions do":
		for _, version := range MeasuredVersions[1:] {
			columns = append(columns, Cell{Version: version, Mode: PauseMinority})
		}
	}
	return columns
}
