package histories

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// spanOf writes a span in OTLP. Its attributes are pairs of a key and a value.
func spanOf(id int, name string, start, end int, attributes ...string) string {
	var all []string
	for i := 0; i < len(attributes); i += 2 {
		value := fmt.Sprintf(`{"stringValue":%q}`, attributes[i+1])
		if strings.Trim(attributes[i+1], "0123456789") == "" {
			value = fmt.Sprintf(`{"intValue":%q}`, attributes[i+1])
		}
		all = append(all, fmt.Sprintf(`{"key":%q,"value":%s}`, attributes[i], value))
	}
	return fmt.Sprintf(`{"traceId":"5b8e","spanId":"%016x","name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s],"status":{}}`,
		id, name, start, end, strings.Join(all, ","))
}

// spansOf writes an OTLP document with the spans of one host.
func spansOf(host string, spans ...string) string {
	return fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":%q}}]},"scopeSpans":[{"spans":[%s]}]}]}`+"\n",
		host, strings.Join(spans, ","))
}

// TestSpans: each span of a lock is read as a call and an answer, in the order of times. Operations that touch at one
// moment are concurrent.
func TestSpans(t *testing.T) {
	text := spansOf("", spanOf(1, "acquire", 10, 20, "lock.name", "jobs", "lock.outcome", "ok", "lock.client", "a", "lock.token", "7"),
		spanOf(2, "GET /", 1, 99)) +
		spansOf("", spanOf(3, "try", 20, 30, "lock.name", "jobs", "lock.operation", "acquire", "lock.outcome", "refused", "lock.client", "b"),
			spanOf(4, "release", 20, 40, "lock.name", "jobs", "lock.client", "a"),
			spanOf(5, "hold", 50, 60, "lock.name", "mail", "lock.client", "b", "lock.outcome", "ok", "lock.mode", "read"),
			spanOf(6, "verify", 70, 80, "lock.name", "jobs", "lock.outcome", "refused", "lock.client", "b"))
	rec, err := NewRecording(strings.NewReader(text), "a.json", Unnamed)
	if err != nil {
		t.Fatal(err)
	}
	h, err := rec.Whole(100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, e := range h.Events {
		got = append(got, fmt.Sprintf("%s %s %s %s %d%s %s", h.Who(e.Process), e.Type, e.F, h.Locks[e.Lock], e.Time, map[bool]string{true: " held"}[e.Held], h.Moment(i)))
	}
	want := []string{
		"a invoke acquire jobs 10 span 0000000000000001", "b invoke acquire jobs 20 span 0000000000000003",
		"a ok acquire jobs 20 held span 0000000000000001", "a invoke release jobs 20 span 0000000000000004",
		"b fail acquire jobs 30 span 0000000000000003", "a info release jobs 40 span 0000000000000004",
		"b invoke acquire mail 50 span 0000000000000005", "b ok acquire mail 50 held span 0000000000000005",
		"b invoke release mail 60 span 0000000000000005", "b ok release mail 60 span 0000000000000005",
		"b invoke verify jobs 70 span 0000000000000006", "b ok verify jobs 80 span 0000000000000006",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if h.Events[2].Token != 7 || h.Events[4].Reason != lock.Full || !h.Events[6].Shared {
		t.Errorf("%+v", h.Events)
	}
	if n := rec.Notes(); n.Spans != 1 || !n.Spanned || rec.Hosts() != 1 {
		t.Errorf("%+v, %d hosts", n, rec.Hosts())
	}
}

// TestSpansRefused: an error names the span, the field, and what was expected.
func TestSpansRefused(t *testing.T) {
	ok := []string{"lock.name", "jobs", "lock.outcome", "ok"}
	for want, spans := range map[string][]string{
		"lock.outcome: found won, expected ok, refused, failed or unknown": {spanOf(1, "acquire", 1, 2, "lock.name", "jobs", "lock.outcome", "won")},
		"lock.operation: found get, expected acquire, verify, release":     {spanOf(1, "get", 1, 2, ok...)},
		"endTimeUnixNano: found 2 to 1":                                    {spanOf(1, "acquire", 2, 1, ok...)},
		"lock.token: found x":                                              {spanOf(1, "acquire", 1, 2, append(ok, "lock.token", "x")...)},
		"lock.mode: found x":                                               {spanOf(1, "acquire", 1, 2, append(ok, "lock.mode", "x")...)},
		"a lock.client each":                                               {spanOf(1, "acquire", 1, 5, ok...), spanOf(2, "verify", 3, 4, ok...)},
		"no span is of a lock":                                             {spanOf(1, "acquire", 1, 2)},
	} {
		if _, err := NewRecording(strings.NewReader(spansOf("", spans...)), "a.json", Unnamed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

func FuzzSpans(f *testing.F) {
	f.Add([]byte(spansOf("h", spanOf(1, "acquire", 10, 20, "lock.name", "jobs", "lock.outcome", "ok"), spanOf(2, "hold", 20, 30, "lock.name", "jobs", "lock.outcome", "ok"))))
	f.Add([]byte(`{"resourceSpans":[]}` + "\n" + `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"release","startTimeUnixNano":1,"endTimeUnixNano":2,"attributes":[{"key":"lock.name","value":{"boolValue":true}}]}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, about, err := readSpans(bytes.NewReader(data), "fuzz", Unnamed)
		if err != nil {
			return
		}
		events := 0
		h, _, err := ReadHistory(bytes.NewReader(text), "made", Unnamed)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		for i := range h.Events {
			if e := &h.Events[i]; e.Process != history.Nemesis {
				events++
			}
			if i > 0 && h.Events[i].Time < h.Events[i-1].Time {
				t.Fatalf("event %d is earlier than the one before:\n%s", i, text)
			}
		}
		if events != len(about.places) || events%2 != 0 {
			t.Fatalf("%d events, %d places", events, len(about.places))
		}
	})
}
