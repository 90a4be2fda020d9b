package draw_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"

	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestDrawMutants compares diagrams of mutants' executions with a file, as text and as a page. They have every kind of
// fault, and commands and replies that the reference locks never send or receive.
func TestDrawMutants(t *testing.T) {
	var out strings.Builder
	var page report.Page
	var r sim.Runner
	for _, name := range []string{
		"probe-by-get", "verify-by-purge", "probe-by-passive-declare", "nack-is-absence", "holder-expires", "one-connection", "names-run-together",
		"wait-tires", "count-off-by-one", "reconnects", "mutex-auto-delete", "slots-transient",
	} {
		target := mutant.Named(name)
		source := sim.NewSource(sim.Space{Target: target}, 2)
		var tr *scenario.Trace
		for i := 0; tr == nil; i++ {
			s := source.Scenario(i)
			if one := r.Trace(target, &s, property.Weak); len(one.Violations) > 0 && len(one.Steps) < 60 {
				tr = one
			}
		}
		fmt.Fprintf(&out, "## %s\n", name)
		if err := draw.Draw(&out, tr, style.Style{Width: 110}); err != nil {
			t.Fatal(err)
		}
		if len(page.Executions) < 4 {
			page.Executions = append(page.Executions, report.Execution{Trace: tr, Command: "lockproof replay " + name + ".json"})
		}
	}
	historiestest.Golden(t, "drawn.txt", out.String())
	var html strings.Builder
	if err := report.WritePage(&html, &page); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "drawn.html", html.String())
}
