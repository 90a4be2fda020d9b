package report

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// samplePage has hostile names.
func samplePage() *Page {
	trace := historiestest.LockedTaken()
	trace.Scenario.Locks[0].Name = `<script>alert("jobs")</script>`
	return &Page{Report: sampleReport(), Executions: []Execution{
		{Trace: trace, Command: "lockproof replay ce.json", Well: historiestest.Faults(), Parts: 1, Sought: true},
		{Trace: historiestest.Faults()},
	}}
}

func TestWritePage(t *testing.T) {
	var b strings.Builder
	if err := WritePage(&b, samplePage()); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "page.html", b.String())
	for _, external := range []string{"http://", "https://", "<script", "url("} {
		if rest := strings.ReplaceAll(b.String(), "http://www.w3.org/2000/svg", ""); strings.Contains(rest, external) {
			t.Errorf("the page has %q", external)
		}
	}
	var only strings.Builder
	if err := WritePage(&only, &Page{Executions: []Execution{{Trace: historiestest.Crowd()}, {Trace: &scenario.Trace{Scenario: scenario.Scenario{Options: amqplock.DefaultOptions()}}}}}); err != nil {
		t.Error(err)
	}
}

// TestMarks: on a page, the steps at which violations show are marked, and those at which they were decided, unless another
// shows there; and no other.
func TestMarks(t *testing.T) {
	decided, both := 0, 0
	for p := range property.Count {
		for q := range property.Count {
			whole := historiestest.LockedTaken()
			first, second := whole.Violations[0], whole.Violations[0]
			first.Property, second.Property = p, q
			for second.Step = range whole.Steps {
				trace := *whole
				trace.Violations = []scenario.Violation{first, second}
				want := make(map[int]string)
				for _, v := range trace.Violations {
					want[draw.Decision(&trace, v)] = "▶"
				}
				delete(want, 0) // not known
				decided += len(want)
				for _, v := range trace.Violations {
					if want[v.Step+1] == "▶" {
						both++
					}
					want[v.Step+1] = "✗"
				}
				for i, s := range steps(&trace) {
					if s.Mark != want[i+1] || s.Number != i+1 || s.Text == "" {
						t.Errorf("%s, and %s at step %d: step %d is marked %q, want %q", p, q, second.Step+1, i+1, s.Mark, want[i+1])
					}
				}
			}
		}
	}
	if decided == 0 || both == 0 {
		t.Errorf("%d violations were decided before they show, %d of them where another shows", decided, both)
	}
}
