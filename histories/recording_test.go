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

// TestRecording: each pass over a recording returns the same events, from a file and from a pipe.
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
		limits := spoolLimits{int64(len(text) + 1), 1 << 20}
		if name == "large pipe" {
			limits.memory = 10
		}
		rec, err := newRecording(r, name, Unnamed, limits)
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

const onlyHeader = `{"lockproof":"history","version":1,"kind":"mutex","locks":[{"name":"jobs","slots":1}]}` + "\n"

// TestRecordingOfAnyLength: one pass over a pipe may have any length, and begins before the pipe ends. If the pipe was
// too long to copy, a second pass fails, and the copy is deleted.
func TestRecordingOfAnyLength(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const event = `{"type":"info","process":"nemesis","f":"start","value":null}` + "\n"
	from, to := io.Pipe()
	defer from.Close()
	write := func(n int) {
		if _, err := io.WriteString(to, strings.Repeat(event, n)); err != nil {
			t.Error(err)
		}
	}
	go func() { io.WriteString(to, onlyHeader); write(50) }()
	rec, err := newRecording(from, "pipe", Unnamed, spoolLimits{100, 4000})
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	err = rec.Each(func(*history.Event) error {
		if events++; events == 50 {
			go func() { write(150); to.Close() }()
		}
		return nil
	})
	if err != nil || events != 200 {
		t.Errorf("%d events, %v", events, err)
	}
	if left, _ := filepath.Glob(os.Getenv("TMPDIR") + "/*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if h, err := rec.Whole(10); err == nil || !strings.HasPrefix(err.Error(), "pipe: more than 4000 bytes came through a pipe") {
		t.Errorf("%+v, %v", h, err)
	}
	if err := rec.Close(); err != nil {
		t.Error(err)
	}
}

// TestRecordingNotCopied: if the copy of a pipe cannot be written, reading fails with that error.
func TestRecordingNotCopied(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	text := strings.Repeat("{\"type\":\"info\",\"process\":1,\"f\":\"other\"}\n", 10)
	rec, err := newRecording(io.MultiReader(strings.NewReader(text)), "pipe", Unnamed, spoolLimits{100, 4000})
	if err == nil {
		_, err = rec.Whole(100)
	}
	if err == nil || !strings.Contains(err.Error(), "copying what comes through a pipe") {
		t.Error(err)
	}
}
