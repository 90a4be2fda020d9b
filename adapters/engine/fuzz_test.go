package engine

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/scenario"
)

// FuzzReplay changes two values in a counterexample file of this module. The changed file must either be refused, or be
// replayed, drawn, reported and shown on a page without a crash.
func FuzzReplay(f *testing.F) {
	var files [][]byte
	for _, pattern := range []string{"*.json", "*/*.json"} {
		names, err := filepath.Glob("../../testdata/counterexamples/" + pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			files = append(files, data)
		}
	}
	for i := range uint16(60) {
		f.Add(i*7, i*13, uint8(i), i*17, uint8(i*5))
	}
	f.Fuzz(func(t *testing.T, file, at uint16, to uint8, at2 uint16, to2 uint8) {
		var doc any
		if err := json.Unmarshal(files[int(file)%len(files)], &doc); err != nil {
			t.Fatal(err)
		}
		doc = changedAt(changedAt(doc, int(at), int(to)), int(at2), int(to2))
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		showAll(t, data)
	})
}

// showAll decodes a counterexample. If decoding succeeds, it replays the counterexample and writes it in every output
// format.
func showAll(t *testing.T, data []byte) {
	ce, err := histories.DecodeCounterexample("fuzz", data)
	if err != nil {
		return
	}
	unplayed(t, ce)
	r, err := Replay(ce)
	if err != nil {
		return
	}
	for _, s := range []style.Style{{Width: 100, Color: true}, {Width: 20}} {
		if err := draw.Draw(io.Discard, r.Trace, s); err != nil {
			t.Fatal(err)
		}
	}
	draw.Transcript(r.Trace)
	p := r.Report(ce, "a broker")
	for _, write := range []func(io.Writer, *report.Report) error{
		report.WriteJSON, report.WriteJUnit, report.WriteSummary,
		func(w io.Writer, p *report.Report) error { return report.WriteCard(w, p, style.Style{Width: 80}) },
		func(w io.Writer, p *report.Report) error { return report.WriteSARIF(w, p, "file") },
		func(w io.Writer, p *report.Report) error { return report.WriteAnnotations(w, p, "file") },
		func(w io.Writer, _ *report.Report) error { return r.WritePage(w) },
	} {
		if err := write(io.Discard, p); err != nil {
			t.Fatal(err)
		}
	}
}

// unplayed draws a counterexample's scenario without any step, as before the execution begins.
func unplayed(t *testing.T, ce *histories.Counterexample) {
	bare := &scenario.Trace{Scenario: ce.Scenario}
	if err := draw.Draw(io.Discard, bare, style.Style{}); err != nil {
		t.Fatal(err)
	}
	draw.SVG(bare, "nothing")
}

// oddValues are the replacements for a value of a JSON document.
var oddValues = []any{nil, true, "", "x", "\x00é\u202e<b>", -1.0, 0.0, 1.0, 2.0, 3.0, 17.0, 255.0, 256.0, 65535.0, 1e6, 1.5, []any{}, map[string]any{}, []any{nil}}

// changedAt returns doc with its value number at replaced. The replacement is oddValues[to]. If to is no index of
// oddValues, the replacement is some value of doc.
func changedAt(doc any, at, to int) any {
	var all []any
	walk(doc, func(v any) any { all = append(all, v); return v })
	at %= len(all)
	with := all[to%len(all)]
	if to < len(oddValues) {
		with = oddValues[to]
	}
	n := -1
	return walk(doc, func(v any) any {
		if n++; n == at {
			return with
		}
		return v
	})
}

// walk replaces each value of a JSON document by what change returns for it. It visits the elements of an object or
// array before the object or array itself.
func walk(v any, change func(any) any) any {
	switch c := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(c))
		for _, k := range slices.Sorted(maps.Keys(c)) {
			out[k] = walk(c[k], change)
		}
		v = out
	case []any:
		out := make([]any, 0, len(c))
		for _, x := range c {
			out = append(out, walk(x, change))
		}
		v = out
	}
	return change(v)
}
