package histories

import (
	"fmt"
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

// TestEncoding: a mark of UTF-8 is passed over. What is not UTF-8, or is compressed, or has zeros, is refused with its
// name.
func TestEncoding(t *testing.T) {
	const (
		lines = "{\"type\":\"invoke\",\"process\":0,\"f\":\"acquire\"}\n{\"type\":\"ok\",\"process\":0,\"f\":\"acquire\"}\n"
		edn   = "{:type :invoke, :f :acquire, :process 0}\n{:type :ok, :f :acquire, :process 0}\n"
		spans = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"acquire","startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[{"key":"lock.name","value":{"stringValue":"jobs"}}]}]}]}]}`
	)
	wide := func(text string, first int) string {
		out := make([]byte, 2*len(text))
		for i := range len(text) {
			out[2*i+1-first] = text[i]
		}
		return string(out)
	}
	for _, c := range []struct{ name, text, err string }{
		{"JSON with a mark", "\ufeff" + lines, ""},
		{"EDN with a mark", "\ufeff" + edn, ""},
		{"spans with a mark", "\ufeff" + spans, ""},
		{"the mark alone", "\ufeff", ""},
		{"a single byte", "\n", ""},
		{"UTF-16 with a mark", "\xff\xfe" + wide(lines, 1), "h:1: found UTF-16, expected text in UTF-8"},
		{"UTF-16", wide(lines, 0), "h:1: found UTF-16, expected text in UTF-8"},
		{"UTF-16 of the other order", wide(edn, 1), "h:1: found UTF-16, expected text in UTF-8"},
		{"gzip", "\x1f\x8b\b\x00", "h:1: found a file that gzip has compressed, expected text in UTF-8"},
		{"zeros behind EDN", edn + "\x00\x00", "h:3: found a zero byte, expected text: a crash of the machine may have left zeros in the file"},
		{"zeros within EDN", edn[:50] + "\x00\x00" + edn[50:], "h:2: found a zero byte, expected text: a crash of the machine may have left zeros in the file"},
		{"zeros only", "\x00\x00\x00\x00", "h:1: found a zero byte, expected text: a crash of the machine may have left zeros in the file"},
		{"zeros behind JSON", lines + "\x00\x00", `h:3: found \x00\x00, expected an object`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := ReadHistory(strings.NewReader(c.text), "h", Unnamed)
			if said := fmt.Sprint(err); err == nil && c.err != "" || err != nil && said != c.err {
				t.Errorf("%s, expected %q", said, c.err)
			}
			_, _, piped := ReadHistory(struct{ io.Reader }{strings.NewReader(c.text)}, "h", Unnamed)
			if fmt.Sprint(piped) != fmt.Sprint(err) {
				t.Errorf("from a pipe: %v, expected %v", piped, err)
			}
		})
	}
}
