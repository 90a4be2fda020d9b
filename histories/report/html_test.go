package report

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// samplePage is a page whose names contain HTML, to test that it is escaped.
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

// TestMarks: on a page, a step is marked ✗ if a violation shows there, and ▶ if it made a violation unavoidable. If
// both hold, the mark is ✗. Other steps have no mark.
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
				delete(want, 0) // step 0 means that the deciding step is not known
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

// TestRecordedPage: if a counterexample was not replayed, the page shows it as it was recorded.
func TestRecordedPage(t *testing.T) {
	c, err := histories.LoadCounterexample("../../testdata/counterexamples/locked-is-success.mutual-exclusion.json")
	if err != nil {
		t.Fatal(err)
	}
	c.Shown = histories.Shown{Cause: "c1 was refused at step 6, and <went> on", Expected: "c1 gives up", Line: 7, Diagram: []string{"step  c1", "  1  ┏━▸"}}
	var page strings.Builder
	if err := WritePage(&page, &Page{Recorded: []*histories.Counterexample{c}}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"and &lt;went&gt; on", "c1 gives up", `href="#x1-7"`, "step  c1\n  1  ┏━▸", "not carried out again", "<h1>locked-is-success</h1>", `id="x1-1"`, "405 RESOURCE_LOCKED"} {
		if !strings.Contains(page.String(), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	if strings.Contains(page.String(), `<figure class="diagram"`) {
		t.Error("it has a picture")
	}
}
