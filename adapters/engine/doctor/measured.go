package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/histories/report"
)

// noMirrors is the first version without mirrored queues.
const noMirrors = 4

// measured says what of the table concerns the cluster.
func (e *examination) measured() {
	if e.alone() {
		e.said.Measured = "One node: nothing separates it from others. Its restart frees all locks, and closes the connections of those who hold them."
		return
	}
	version := e.told[0].Version
	under := "the worst of all modes"
	if e.config.Mode != "" {
		under = "under " + string(e.config.Mode)
	}
	e.said.Measured = fmt.Sprintf("measured on RabbitMQ %s with a net_ticktime of 4 s, %s, wherever clients and queue were", cluster.MeasuredVersion, under)
	if version != cluster.MeasuredVersion {
		e.said.Measured += "; yours is " + version
	}
	for _, f := range cluster.Faults {
		if slices.ContainsFunc(cluster.Measured(), func(c cluster.Cell) bool { return c.Fault == f }) {
			e.said.Faults = append(e.said.Faults, string(f))
		}
	}
	for _, d := range designs.All {
		if d.Mirrored && major(version) >= noMirrors {
			continue
		}
		row := report.DiagnosedDesign{Name: d.Name, Doc: d.Doc}
		for _, f := range e.said.Faults {
			row.Cells = append(row.Cells, worst(cluster.Measured(), func(c *cluster.Cell) bool {
				return c.Design == d.Name && string(c.Fault) == f && (e.config.Mode == "" || c.Mode == e.config.Mode)
			}))
		}
		e.said.Designs = append(e.said.Designs, row)
	}
}

// major is the first number of a version, 0 where it has none.
func major(version string) int {
	first, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(first)
	return n
}

// worst is the worst of some cells: the longest time, and what any of them says besides.
func worst(cells []cluster.Cell, concerns func(*cluster.Cell) bool) string {
	time, longest := "0", 0.0
	var words []string
	for i := range cells {
		if !concerns(&cells[i]) {
			continue
		}
		said := strings.Fields(cells[i].Said)
		if seconds := secondsOf(said[0]); seconds > longest {
			time, longest = said[0], seconds
		}
		for _, word := range said[1:] {
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	slices.Sort(words)
	return strings.Join(append([]string{time}, words...), " ")
}

// secondsOf is the time of a cell, for comparing.
func secondsOf(said string) float64 {
	const forever, almostNone = 1e9, 0.01
	switch {
	case said == "∞":
		return forever
	case strings.HasPrefix(said, "<"):
		return almostNone
	}
	n, _ := strconv.ParseFloat(said, 64)
	return n
}
