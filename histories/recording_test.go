package histories

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
)

// TestRecording: a recording gives the events of its history each time, whether it can be read twice or not.
func TestRecording(t *testing.T) {
	const text = `{"type":"invoke","process":1,"f":"acquire"}
{"type":"ok","process":1,"f":"acquire"}
{"type":"invoke","process":1,"f":"release"}
`
	want, _, err := ReadHistory(strings.NewReader(text), "whole", Unnamed)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]io.Reader{"file": strings.NewReader(text), "pipe": io.MultiReader(strings.NewReader(text))} {
		rec, err := NewRecording(r, name, Unnamed)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := rec.Whole(3); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, %v; expected %+v", name, got, err, want)
			}
		}
		if got, err := rec.Whole(2); got != nil || err != nil {
			t.Errorf("%s: more than two events: %+v, %v", name, got, err)
		}
		if found, err := rec.Some(func(e *history.Event) bool { return e.Type == history.OK }); !found || err != nil {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}
