package cluster

import (
	"slices"
	"strings"
	"testing"
)

// The tables of the page are read whole: each fault and each mode, and nothing that is no cell.
func TestMeasured(t *testing.T) {
	cells := Measured()
	rows := 0
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, "| A n") {
			rows++
		}
	}
	if rows == 0 || len(cells) != rows*len(Modes) {
		t.Fatalf("%d cells of %d rows", len(cells), rows)
	}
	for _, c := range cells {
		if !slices.Contains(Faults, c.Fault) || c.Said == "" || !strings.HasPrefix(c.Where, "A n") {
			t.Errorf("%+v", c)
		}
	}
	first := Cell{Fault: "cut", Design: "exclusive-queue", Where: "A n1, B n2", Mode: Ignore, Said: "∞", Told: "connection.close 320 CONNECTION_FORCED"}
	if cells[0] != first || !cells[0].Wrong() {
		t.Errorf("the first is %+v", cells[0])
	}
	if !strings.Contains(page, "on RabbitMQ "+MeasuredVersion+",") {
		t.Errorf("the page was measured on another version than %s", MeasuredVersion)
	}
}
