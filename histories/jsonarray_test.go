package histories

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
)

// asArray writes JSON Lines as one JSON array, with each object spread over several lines.
func asArray(lines string) string {
	var objects []string
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			line = strings.Replace(line, "{", "{\n  ", 1)
			if body, ok := strings.CutSuffix(line, "}"); ok {
				line = body + "\n}"
			}
			objects = append(objects, line)
		}
	}
	return " [\n" + strings.Join(objects, " ,\n\t") + "\r\n] \n"
}

// TestJSONArray: an array of events is read like the same events in JSON Lines, with and without a header, in pieces of
// any size.
func TestJSONArray(t *testing.T) {
	const header = `{"lockproof":"history","version":1,"kind":"semaphore","locks":[{"name":"jobs","slots":2}]}`
	const events = `
		{"type":"invoke","f":"acquire","value":null,"process":1}
		{"type":"ok","process":1,"f":"acquire","value":{"slot":1,"held":true}}
		{"type":"info","process":"nemesis","f":"gone","value":{"client":1}}`
	for _, lines := range []string{"", events, header, header + events} {
		want, _, err := ReadHistory(strings.NewReader(lines), "lines", Unnamed)
		if err != nil {
			t.Fatal(err)
		}
		for most := range 24 {
			got, _, err := ReadHistory(&slowly{strings.NewReader(asArray(lines)), most + 1}, "array", Unnamed)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s\nas an array, in pieces of %d: %+v, %v", lines, most+1, got, err)
			}
		}
	}
}

// slowly is a reader that returns only a few bytes at a time.
type slowly struct {
	*strings.Reader
	most int
}

func (s *slowly) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(s.most, len(p))]) }

// TestLongArray: an event in an array may be as long as a line of JSON Lines, and no longer. The array itself has no
// limit.
func TestLongArray(t *testing.T) {
	event := `{"type":"invoke","process":%,"f":"acquire"}` + strings.Repeat(" ", 1000)
	var all []string
	for range 2 * maxEventLine / len(event) {
		all = append(all, strings.Replace(event, "%", "1", 1), `{"type":"fail","process":1,"f":"acquire"}`)
	}
	h, _, err := ReadHistory(strings.NewReader("["+strings.Join(all, ",")+"]"), "long", Unnamed)
	if err != nil || len(h.Events) != len(all) {
		t.Errorf("%v", err)
	}
	_, _, err = ReadHistory(strings.NewReader(`[{"type":`+strings.Repeat(" ", maxEventLine+1)+`"ok"}]`), "long", Unnamed)
	if err == nil || !strings.Contains(err.Error(), "more than 1 MB") {
		t.Error(err)
	}
}

// FuzzJSONArray: if any input is read as a history, the same history written as an array is read the same.
func FuzzJSONArray(f *testing.F) {
	f.Add([]byte(`[{"type":"invoke","process":1,"f":"acquire"}, {"type":"ok","process":1,"f":"acquire","value":{"slot":1}}]`))
	f.Add([]byte(`{"type":"invoke","process":1,"f":"acquire"}`))
	f.Add([]byte(`[[],{"type":"in]v\"oke"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, _, err := ReadHistory(bytes.NewReader(data), "fuzz", Unnamed)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		var lines bytes.Buffer
		if err := WriteHistory(&lines, h); err != nil {
			t.Fatal(err)
		}
		again, _, err := ReadHistory(strings.NewReader(asArray(lines.String())), "again", Unnamed)
		if err != nil || !reflect.DeepEqual(again, h) {
			t.Errorf("%s\nreads as %+v\nand as an array as %+v: %v", data, h, again, err)
		}
	})
}

// TestEventNumbers: skipped events of Jepsen's nemesis keep their place, so that later events have the numbers that
// Jepsen gave them.
func TestEventNumbers(t *testing.T) {
	const text = `{:index 0 :process :nemesis :type :info :f :start-partition :time 1}
		{:index 1 :process 0 :type :invoke :f :acquire}
		{:index 2 :process :nemesis :type :info :f :stop-partition :value [:isolated {"n1" #{"n2"}}]}
		{:index 3 :process 0 :type :ok :f :acquire}`
	h, notes, err := ReadHistory(strings.NewReader(text), "jepsen", Unnamed)
	if err != nil || len(h.Events) != 4 || notes.Ignored != 2 {
		t.Fatalf("%+v, %+v, %v", h, notes, err)
	}
	for i, e := range h.Events {
		if (e.F == history.Other) != (i%2 == 0) {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	if err := linear.Validate(h); err != nil {
		t.Error(err)
	}
}

// TestArrayEndsOnce: an array ends with one closing bracket. A comma before it, or text after it, is an error.
func TestArrayEndsOnce(t *testing.T) {
	const event = `{"type":"invoke","process":1,"f":"verify"}`
	for text, want := range map[string]string{
		"[" + event + "]":         "",
		"[" + event + "]\n":       "",
		"[]":                      "",
		"[" + event + "]]":        "nothing behind the closing bracket",
		"[" + event + "]" + event: "nothing behind the closing bracket",
		"[" + event + "],":        "nothing behind the closing bracket",
		"[" + event:               "a closing bracket after the last event",
		"[" + event + event + "]": "a comma or a closing bracket after an event",
	} {
		_, _, err := ReadHistory(strings.NewReader(text), "array", Unnamed)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
