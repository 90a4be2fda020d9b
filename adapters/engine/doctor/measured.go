package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/histories/report"
)

// noMirrors is the first major version of RabbitMQ without mirrored queues.
const noMirrors = 4

// measured adds those parts of the measured table to the diagnosis that apply to the cluster.
func (e *examination) measured() {
	if e.alone() {
		e.said.Measured = "One node: nothing separates it from others. Its restart frees all locks, and closes the connections of those who hold them."
		return
	}
	version := e.told[0].Version
	of := e.nearest(version)
	under, mode := "the worst of all modes", e.config.Mode
	switch {
	case of != cluster.MeasuredVersions[0]:
		mode = cluster.PauseMinority // versions after the first were measured under this mode only
		fallthrough
	case mode != "":
		under = "under " + string(mode)
	}
	e.said.Measured = fmt.Sprintf("measured on RabbitMQ %s with a net_ticktime of 4 s, %s, wherever clients and queue were", of, under)
	if version != of {
		e.said.Measured += "; yours is " + version
	}
	cells := slices.DeleteFunc(cluster.Measured(), func(c cluster.Cell) bool { return c.Version != of || mode != "" && c.Mode != mode })
	for _, f := range nemesis.Faults {
		if slices.ContainsFunc(cells, func(c cluster.Cell) bool { return c.Fault == f }) {
			e.said.Faults = append(e.said.Faults, string(f))
		}
	}
	for _, d := range designs.All {
		if d.Mirrored && major(version) >= noMirrors {
			continue
		}
		row := report.DiagnosedDesign{Name: d.Name, Doc: d.Doc}
		for _, f := range e.said.Faults {
			row.Cells = append(row.Cells, worst(cells, func(c *cluster.Cell) bool { return c.Design == d.Name && string(c.Fault) == f }))
		}
		e.said.Designs = append(e.said.Designs, row)
	}
}

// nearest returns the measured version of RabbitMQ that is most similar to version.
func (e *examination) nearest(version string) string {
	switch {
	case major(version) < noMirrors:
		return cluster.MeasuredVersions[0]
	case !strings.HasPrefix(version, "4.0.") && !strings.HasPrefix(version, "4.1."):
		return cluster.MeasuredVersions[3]
	case e.managed != nil && e.managed.khepri:
		return cluster.MeasuredVersions[2]
	}
	return cluster.MeasuredVersions[1]
}

// major is the first number of a version, for example 4 for "4.0.5"; 0 if version does not start with a number.
func major(version string) int {
	first, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(first)
	return n
}

// worst summarises the cells that concerns selects: their longest time, then all other remarks, for example "∞ stuck". It
// is "?" if none of their runs was possible. If there is no such cell, it is "0": the page leaves out what never failed.
func worst(cells []cluster.Cell, concerns func(*cluster.Cell) bool) string {
	time, longest := "", 0.0
	var words []string
	for i := range cells {
		if !concerns(&cells[i]) {
			continue
		}
		for _, word := range strings.Fields(strings.ReplaceAll(cells[i].Said, ",", "")) {
			switch seconds := secondsOf(word); {
			case seconds > longest || seconds == 0 && time == "":
				time, longest = word, seconds
			case seconds < 0 && !slices.Contains(words, word):
				words = append(words, word)
			}
		}
	}
	if slices.Equal(words, []string{"?"}) && time == "" {
		return "?"
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == "?" })
	slices.Sort(words)
	return strings.Join(append([]string{cmp.Or(time, "0")}, words...), " ")
}

// secondsOf converts a word of a table cell to seconds, for comparing: "∞" is very long, "<..." nearly 0. It is
// negative if the word is not a time.
func secondsOf(said string) float64 {
	const forever, almostNone = 1e9, 0.01
	switch {
	case said == "∞":
		return forever
	case strings.HasPrefix(said, "<"):
		return almostNone
	}
	n, err := strconv.ParseFloat(said, 64)
	if err != nil {
		return -1
	}
	return n
}
