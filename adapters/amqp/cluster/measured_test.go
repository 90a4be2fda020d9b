package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/nemesis"
)

// Measured reads every cell of the README's tables, and nothing else.
func TestMeasured(t *testing.T) {
	cells := Measured()
	rows := 0
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, "| A n") {
			rows++
		}
	}
	if rows == 0 || len(cells) != rows*len(Modes) || len(Modes) != len(MeasuredVersions)-1 {
		t.Fatalf("%d cells of %d rows", len(cells), rows)
	}
	versions := make(map[string]bool)
	for _, c := range cells {
		versions[c.Version] = true
		if !slices.Contains(nemesis.Faults, c.Fault) || c.Said == "" || !strings.HasPrefix(c.Where, "A n") {
			t.Errorf("%+v", c)
		}
	}
	first := Cell{Version: "3.10.8", Fault: "cut", Design: "exclusive-queue", Where: "A n1, B n2", Mode: Ignore, Said: "∞, ∞", Told: "connection.close 320 CONNECTION_FORCED"}
	if cells[0] != first {
		t.Errorf("the first is %+v", cells[0])
	}
	for _, version := range MeasuredVersions {
		if number, _, _ := strings.Cut(version, " "); !versions[version] || !strings.Contains(page, number) {
			t.Errorf("the page has nothing measured of %s", version)
		}
	}
}
