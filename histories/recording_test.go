package histories

import (
	"io"
	"os"
	"path/filepath"
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
	t.Setenv("TMPDIR", t.TempDir())
	for name, r := range map[string]io.Reader{
		"file": strings.NewReader(text), "pipe": io.MultiReader(strings.NewReader(text)), "large pipe": io.MultiReader(strings.NewReader(text)),
	} {
		most := int64(len(text) + 1)
		if name == "large pipe" {
			most = 10
		}
		rec, err := newRecording(r, name, Unnamed, most)
		if err != nil {
			t.Fatal(err)
		}
		if copied, _ := filepath.Glob(os.Getenv("TMPDIR") + "/*"); len(copied) > 0 != (name == "large pipe") {
			t.Errorf("%s: copied to %q", name, copied)
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
		if err := rec.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(os.Getenv("TMPDIR") + "/*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
