package report

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/property"
)

// injected is text that would end an HTML attribute, an element, a comment, a script, a CDATA section or a table's
// cell, and then begin a script.
const injected = "evil\" onx=\"y' onx='y--></text></script>]]><img src=x onerror=z><script>z</script>|[a](javascript:z)\n# All passed\n```\n~~~\n# Out\n"

// TestNothingIsInjected: text from outside, in names, options, messages and a broker's replies, never becomes markup or
// a script in a document.
func TestNothingIsInjected(t *testing.T) {
	r := sampleReport()
	r.Source, r.Bounds = injected, injected
	r.Uncontrolled, r.Wire, r.Traffic, r.Fixed = []string{""}, []Count{{}}, []Traffic{{Calls: 1}}, []string{"", "", "", "", "", "", "", "", ""}
	r.Space, r.Runs = &Space{Cut: "cut"}, &Runs{Incomplete: "cut"}
	infestWith(injected, reflect.ValueOf(r), 9)
	trace := historiestest.LockedTaken()
	infestWith(injected, reflect.ValueOf(&trace.Scenario), 9)
	trace.Scenario.Options = historiestest.LockedTaken().Scenario.Options
	trace.History.Locks = []string{injected}
	trace.Violations[0].Detail = injected
	for i := range trace.Steps {
		s := &trace.Steps[i]
		s.Command, s.Reply, s.Resource = injected+s.Command, injected+s.Reply, injected+s.Resource
	}
	atlas := &Atlas{
		Questions: []Question{{Rows: []AtlasRow{{
			Space: &Space{}, Ends: []string{"", ""}, Seen: []string{""}, Cost: r.Efficiency,
			Verdicts: []AtlasVerdict{{Property: property.NoLeak, Verdict: Violated}},
		}}}},
		Needed: &Needed{Smallest: []NeededOption{{Lost: []AtlasVerdict{{Property: property.NoLeak, Verdict: Violated}}}}, Free: []string{""}},
	}
	infestWith(injected, reflect.ValueOf(atlas), 9)
	atlas.Questions[0].Rows[0].Verdicts[0].Trace = trace
	atlas.Tool, atlas.Title, atlas.Missing = "0.1", "ours", "" // these texts are lockproof's own
	sweep, compared := sampleSweep(), sampleComparison()
	infestWith(injected, reflect.ValueOf(sweep), 9)
	infestWith(injected, reflect.ValueOf(compared), 9)
	compared.Tool, compared.Command, r.Tool, r.Command = "0.1", "", "0.1", ""
	html := []string{"<img src=x", "<script>z", "evil\" onx=", "<y' onx", "evil\"", "</script>]]", "-->"}
	markdown := []string{"<img src=x", "<script>z", "\n# All passed", "|[a](javascript", "</script>"}
	for name, doc := range map[string]struct {
		write  func(io.Writer) error
		broken []string
	}{
		"page": {func(w io.Writer) error {
			return WritePage(w, &Page{Report: r, Executions: []Execution{{Trace: trace, Command: injected}}, Status: injected, Explorer: &Explorer{Start: injected}})
		}, html},
		"page of text":         {func(w io.Writer) error { return WritePage(w, &Page{Title: injected, Text: injected}) }, html},
		"atlas, page":          {func(w io.Writer) error { return WriteAtlasPage(w, atlas) }, html},
		"sweep, page":          {func(w io.Writer) error { return WriteSweepPage(w, sweep) }, html},
		"comparison, page":     {func(w io.Writer) error { return WriteComparisonPage(w, compared) }, html},
		"JUnit":                {func(w io.Writer) error { return WriteJUnit(w, r) }, []string{"=\"evil\""}},
		"atlas, Markdown":      {func(w io.Writer) error { return WriteAtlasMarkdown(w, &Atlas{Title: "ours", Broker: injected}) }, markdown},
		"comparison, Markdown": {func(w io.Writer) error { return WriteComparisonMarkdown(w, compared) }, markdown},
	} {
		var b strings.Builder
		if err := doc.write(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(b.String(), "evil") {
			t.Errorf("%s: shows nothing of it", name)
		}
		for _, broken := range doc.broken {
			if i := strings.Index(b.String(), broken); i >= 0 {
				t.Errorf("%s: has %q in it: %q", name, broken, b.String()[max(0, i-100):min(b.Len(), i+60)])
			}
		}
	}
}
