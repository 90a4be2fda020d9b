package explorer

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// files returns the paths of the counterexamples in testdata.
func files(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../../testdata/counterexamples/*.json")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../testdata/counterexamples/atlas/*.json")
	if err != nil || len(all) == 0 || len(more) == 0 {
		t.Fatal("no counterexamples", err)
	}
	return append(all, more...)
}

// ask sends a request to the explorer and decodes its response.
func ask(t *testing.T, q Request) *Response {
	t.Helper()
	data, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var r Response
	if err := json.Unmarshal(World{Named: lock.TargetNamed}.Explore(data), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// TestVerdicts: for each counterexample, the explorer's verdicts equal those of a replay, of its file and of the file
// that the explorer saves. At one step the test also takes every possible action, and compares the verdicts again.
func TestVerdicts(t *testing.T) {
	for i, file := range files(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := ask(t, Request{File: string(data), At: i})
		if r.Error != "" {
			t.Fatalf("%s: %s", file, r.Error)
		}
		agree(t, file, string(data), r)
		agree(t, file+", saved", r.Saved, r)
		if !slices.ContainsFunc(r.Enabled, func(c Choice) bool { return c.Taken }) && r.At < len(r.Actions) {
			t.Errorf("%s: what happens at step %d is not among what can happen", file, r.At+1)
		}
		for _, c := range r.Enabled {
			other := ask(t, Request{File: string(data), At: -1, Edited: true, Actions: append(slices.Clone(r.Actions[:r.At]), c.Action)})
			if other.Error != "" || len(other.Actions) != r.At+1 || len(other.Steps) != r.At+2 {
				t.Fatalf("%s: %s at step %d: %s, %v", file, c.Text, r.At+1, other.Error, other.Actions)
			}
			agree(t, file+", "+c.Text, other.Saved, other)
		}
	}
}

// agree fails the test if the explorer's verdicts in r differ from those of a replay by the engine.
func agree(t *testing.T, name, file string, r *Response) {
	t.Helper()
	ce, err := histories.DecodeCounterexample(name, []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := engine.Replay(ce)
	if err != nil {
		t.Fatal(err)
	}
	violated := 0
	for _, p := range r.Properties {
		i := slices.IndexFunc(replayed.Trace.Violations, func(v scenario.Violation) bool { return v.Property.String() == p.Name })
		switch {
		case i < 0 && p.Step > 0:
			t.Errorf("%s: the explorer alone says that %s is violated: %s", name, p.Name, p.Explain)
		case i >= 0 && (p.Step != replayed.Trace.Violations[i].Step+1 || p.Explain != replayed.Trace.Violations[i].Explain()):
			t.Errorf("%s: %s: %+v and %+v", name, p.Name, p, replayed.Trace.Violations[i])
		case i >= 0:
			violated++
		}
	}
	if (replayed.Violation != nil) != (violated > 0) {
		t.Errorf("%s: %d properties are violated, but the file is about %s, which is so: %v", name, violated, ce.Property, replayed.Violation)
	}
}

// TestErrors: an invalid request gets a response with an error.
func TestErrors(t *testing.T) {
	data, err := os.ReadFile(files(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]Request{
		"no file": {}, "an option that there is not": {File: string(data), Options: map[string]string{"no": "1"}},
		"a value that there is not": {File: string(data), Options: map[string]string{"retries": "many"}},
	} {
		if r := ask(t, q); r.Error == "" {
			t.Errorf("%s: no error", name)
		}
	}
	if len(World{Named: lock.TargetNamed}.Explore([]byte("{"))) == 0 {
		t.Error("no answer")
	}
	odd := ask(t, Request{File: string(data), At: 999, Edited: true, Actions: []scenario.Action{{Kind: scenario.Step, Client: 99}}})
	if odd.Error != "" || len(odd.Actions) != 0 || odd.At != 0 {
		t.Errorf("an impossible action: %+v", odd)
	}
}

// FuzzExplore: no request makes Explore panic.
func FuzzExplore(f *testing.F) {
	data, err := os.ReadFile("../../testdata/counterexamples/locked-is-success.mutual-exclusion.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data), uint8(1), uint8(1), uint32(0), 3)
	f.Add("{}", uint8(9), uint8(0), uint32(7), -1)
	f.Fuzz(func(t *testing.T, file string, kind, client uint8, arg uint32, at int) {
		if len(file) > 20_000 {
			t.Skip()
		}
		q := Request{File: file, At: at, Edited: true, Actions: []scenario.Action{{Kind: scenario.ActionKind(kind), Client: client, Arg: arg}}}
		if _, err := (World{Named: lock.TargetNamed}).explore(&q); err != nil && err.Error() == "" {
			t.Error("an error that says nothing")
		}
	})
}
