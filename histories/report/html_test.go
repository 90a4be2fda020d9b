package report

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/historiestest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
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
