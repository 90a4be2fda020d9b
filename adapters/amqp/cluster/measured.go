package cluster

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/nemesis"
)

// page is the README for operators. Its tables contain the measurements.
//
//go:embed README.md
var page string

// MeasuredVersions are the versions of RabbitMQ in the README's tables. The first was measured in all partition
// handling modes, the others in pause_minority only.
var MeasuredVersions = []string{"3.10.8", "4.0.5", "4.0.5 with Khepri", "4.3.6"}

// Cell is one result in the README's tables: what one design did under one fault, with its clients and queue on given
// nodes.
type Cell struct {
	Version string // RabbitMQ's version, one of [MeasuredVersions]
	Fault   nemesis.Fault
	Design  string
	Where   string // on which nodes the clients and the queue are, such as "A n1, B n2"
	Mode    Mode
	// Said is the text of the cell, for example "0.2, 0.1". It has one result for each repetition, separated by commas.
	// A result is the number of seconds in which both clients certainly held the lock; ∞ means that both held it until
	// the end and neither was told of a loss. The README explains the other signs, such as stuck.
	//
	// Told says how the server informed holders, such as "basic.cancel". It is the same for all cells of a row.
	Said, Told string
}

// Measured parses the cells of the README's tables. Placements of clients and queue that were measured without any
// failure are not in the tables, so they have no cells.
func Measured() (cells []Cell) {
	var fault nemesis.Fault
	var columns []Cell // the version and mode of each column of the current table
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

// columnsOf is the version and mode of each column of the tables under the given heading.
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
