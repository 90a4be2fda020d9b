package report

import (
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"

	"github.com/lockproof/lockproof/model/property"
)

// hostile is text that would take over an unprotected terminal. It sets the title, moves the cursor up, uses C1
// controls in both encodings, and reverses the writing direction.
const hostile = "evil\x1b]0;title\a\x1b[2A\u009b31m\x9b31m\u202e<b>|\r\b\x7f\u2066"

// infest replaces every string in a value by hostile text.
func infest(v reflect.Value, depth int) { infestWith(hostile, v, depth) }

func infestWith(text string, v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.Type().PkgPath() == "" { // named types, such as verdicts, are lockproof's own words
			v.SetString(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			infestWith(text, v.Elem(), depth-1)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			infestWith(text, v.Index(i), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				infestWith(text, v.Field(i), depth-1)
			}
		}
	}
}

// TestNothingTakesTerminalsOver: control characters from outside, in names, errors and a broker's replies, never reach
// a card, a diagram or a document. Only lockproof's own colours do.
func TestNothingTakesTerminalsOver(t *testing.T) {
	report := sampleReport()
	report.Source, report.Bounds = hostile, hostile
	report.Uncontrolled, report.Wire, report.Traffic = []string{""}, []Count{{}}, []Traffic{{Calls: 1}}
	report.Space, report.Runs = &Space{Cut: "cut"}, &Runs{Incomplete: "cut"}
	infest(reflect.ValueOf(report), 9)
	trace := historiestest.LockedTaken()
	infest(reflect.ValueOf(&trace.Scenario), 9)
	trace.Scenario.Options = historiestest.LockedTaken().Scenario.Options
	trace.History.Locks = []string{hostile}
	trace.Violations[0].Detail = hostile
	for i := range trace.Steps {
		s := &trace.Steps[i]
		s.Command, s.Reply, s.Resource = hostile+s.Command, hostile+s.Reply, hostile+s.Resource
	}
	atlas := &Atlas{
		Questions: []Question{{Rows: []AtlasRow{{
			Space: &Space{}, Ends: []string{"", ""}, Seen: []string{""}, Cost: report.Efficiency,
			Verdicts: []AtlasVerdict{{Property: property.NoLeak, Verdict: Violated}},
		}}}},
		Needed: &Needed{Smallest: []NeededOption{{Lost: []AtlasVerdict{{Property: property.NoLeak, Verdict: Violated}}}}, Free: []string{""}},
	}
	infest(reflect.ValueOf(atlas), 9)
	atlas.Questions[0].Rows[0].Verdicts[0].Trace = trace
	ce := &histories.Counterexample{Tool: hostile, Exec: hostile, Scenario: trace.Scenario, Transcript: []string{hostile}}

	for name, write := range map[string]func(io.Writer) error{
		"card":          func(w io.Writer) error { return WriteCard(w, report, style.Style{}) },
		"coloured card": func(w io.Writer) error { return WriteCard(w, report, style.Style{Color: true}) },
		"diagram":       func(w io.Writer) error { return draw.Draw(w, trace, style.Style{Color: true}) },
		"page": func(w io.Writer) error {
			return WritePage(w, &Page{Report: report, Executions: []Execution{{Trace: trace, Command: hostile}}, Status: hostile})
		},
		"page of text": func(w io.Writer) error {
			return WritePage(w, &Page{Title: hostile, Text: hostile})
		},
		"JSON":            func(w io.Writer) error { return WriteJSON(w, report) },
		"JUnit":           func(w io.Writer) error { return WriteJUnit(w, report) },
		"atlas":           func(w io.Writer) error { return WriteAtlas(w, atlas, style.Style{Color: true}) },
		"atlas, Markdown": func(w io.Writer) error { return WriteAtlasMarkdown(w, atlas) },
		"atlas, page":     func(w io.Writer) error { return WriteAtlasPage(w, atlas) },
		"atlas, JSON":     func(w io.Writer) error { return WriteAtlasJSON(w, atlas) },
		"counterexample": func(w io.Writer) error {
			data, err := ce.Encode()
			w.Write(data)
			return err
		},
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(b.String(), "evil") {
			t.Errorf("%s: shows nothing of it", name)
		}
		for i, r := range ours.ReplaceAllString(b.String(), "") {
			if !strconv.IsGraphic(r) && r != '\n' && r != '\t' {
				t.Errorf("%s: has %U in it, at byte %d", name, r, i)
				break
			}
		}
	}
}

// ours matches the escape sequences of the colours that [Style] uses.
var ours = regexp.MustCompile(`\x1b\[(0|1|2|1;31|3[0-9]|9[0-9])m`)
