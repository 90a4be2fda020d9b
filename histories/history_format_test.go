package histories

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
)

// TestFormatIsSeen: the first characters of a history show whether it is JSON or EDN.
func TestFormatIsSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"":                       true,
		" \n":                    true,
		`{"type":"invoke"}`:      true,
		" {\n\t\"type\":\"ok\"}": true,
		"{}":                     true,
		"{":                      true,
		`[{"type":"invoke"}]`:    true,
		"[\r\n {\"a\":1}]":       true,
		"{:type :invoke}":        false,
		"[{:type :invoke}]":      false,
		"[ { :type :invoke}]":    false,
		`#"a"`:                   false,
		`("a")`:                  false,
		"; a comment":            false,
		"INFO jepsen":            false,
	} {
		if got := looksLikeJSON(bufio.NewReader(strings.NewReader(text))); got != want {
			t.Errorf("%q is JSON: %v, want %v", text, got, want)
		}
	}
}

// TestEDNInPieces: EDN is read the same if the input arrives in small pieces. The text has everything that begins with
// two special characters, such as #_ and ##.
func TestEDNInPieces(t *testing.T) {
	const text = `[#_ {:type :no} #jepsen.history.Op{:type :invoke, :f :acquire, :value nil, :process 0, :time 1} ; a comment
		#_#_ 1 2 ^{:a 1} {:type :ok :f :acquire :process 0 :time 2 :value nil :more #{1 2} :nan ##NaN :var #'a :like #"a\"b" :c \space :d \} :s "\n\t\\\"é"}
		{:type :info, :f :lockproof/gone, :process :nemesis, :value {:client 1}}]`
	want, notes, err := ReadHistory(strings.NewReader(text), "whole", Unnamed)
	if err != nil || len(want.Events) != 3 {
		t.Fatalf("%+v, %+v, %v", want, notes, err)
	}
	for most := range 24 {
		r, got := NewEDNReader(&slowly{strings.NewReader(text), most + 1}, "pieces", Unnamed), []history.Event(nil)
		var e history.Event
		for err = r.Read(&e); err == nil; err = r.Read(&e) {
			got = append(got, e)
		}
		if err != io.EOF || !reflect.DeepEqual(got, want.Events) {
			t.Errorf("in pieces of %d: %+v, %v", most+1, got, err)
		}
	}
}

// TestEDNNested: values may be nested 64 deep, and no deeper.
func TestEDNNested(t *testing.T) {
	nested := func(depth int) string {
		return "{:type :invoke :f :acquire :process 0 :more " + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}"
	}
	if _, _, err := ReadHistory(strings.NewReader(nested(maxEDNDepth)), "deep", Unnamed); err != nil {
		t.Error(err)
	}
	_, _, err := ReadHistory(strings.NewReader(nested(maxEDNDepth+1)), "deep", Unnamed)
	if err == nil || !strings.Contains(err.Error(), "values nested more than 64 deep") {
		t.Error(err)
	}
}

// TestObjectEnd: a JSON object ends at its closing brace, and braces in its strings do not count.
func TestObjectEnd(t *testing.T) {
	for _, c := range []struct{ object, more string }{
		{`{}`, ``},
		{`{}`, `,{}`},
		{`{"a":{"b":[1,2]}}`, `]`},
		{`{"a":"}"}`, `,`},
		{`{"a":"\"}"}`, `,{}`},
		{`{"a":"\\"}`, `,{}`},
		{`{"a":"]"}`, `]`},
		{`[[],[{}]]`, `, 1`},
		{`12`, `, 3`},
		{`"a,b"`, `]`},
	} {
		if got := objectEnd([]byte(c.object + c.more)); got != len(c.object) && (c.more != "" || c.object[0] == '{') {
			t.Errorf("%s ends after %d of %d", c.object+c.more, got, len(c.object))
		}
	}
	for _, cut := range []string{`{`, `{"a":"}`, `{"a":"\`, `{"a":[}`, `"a,`, `12`} {
		if got := objectEnd([]byte(cut)); got != 0 {
			t.Errorf("%s, which is not all, ends after %d", cut, got)
		}
	}
}

// TestBlanksBefore: a history may begin with more blanks than a buffer or a line can have. An error still names the
// right line.
func TestBlanksBefore(t *testing.T) {
	const edn, json = `{:type :invoke, :f :acquire, :process 0}`, `{"type":"invoke","f":"acquire","process":0}`
	for name, events := range map[string][2]string{
		"EDN":            {edn, `{:type :invoke, :f :fly, :process 0}`},
		"EDN in vectors": {"[" + edn + "]", `[{:type :invoke, :f :fly, :process 0}]`},
		"JSON Lines":     {json, `{"type":"invoke","f":"fly","process":0}`},
		"JSON array":     {"[" + json + "]", `[{"type":"invoke","f":"fly","process":0}]`},
	} {
		for _, size := range []int{0, 1 << 10, 1<<18 + 1, maxForm + 1} {
			for _, blanks := range []string{strings.Repeat(" ", size), "\n" + strings.Repeat(" ", size) + "\n"} {
				h, _, err := ReadHistory(strings.NewReader(blanks+events[0]), "blanks", Unnamed)
				if err != nil || len(h.Events) != 1 {
					t.Errorf("%s after %d blanks: %v", name, len(blanks), err)
				}
				_, _, err = ReadHistory(strings.NewReader(blanks+events[1]), "blanks", Unnamed)
				if at := fmt.Sprintf("blanks:%d: ", 1+strings.Count(blanks, "\n")); err == nil || !strings.HasPrefix(err.Error(), at) {
					t.Errorf("%s after %d blanks: %v, want it at %s", name, len(blanks), err, at)
				}
			}
		}
	}
	within := strings.Repeat(" ", 1<<16)
	for _, text := range []string{"[" + within + edn + "]", "[" + within + "{" + within + edn[1:] + "]", "[" + within + json + "]"} {
		if h, _, err := ReadHistory(strings.NewReader(text), "within", Unnamed); err != nil || len(h.Events) != 1 {
			t.Errorf("%.20s…: %v", text, err)
		}
	}
}
