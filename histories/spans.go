package histories

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// OpenTelemetry's spans are read as a history: a span with the attribute lock.name is an operation, called when it
// starts and answered when it ends. They are OTLP in JSON: one document, or one in each line, as written by the
// collector's file exporter. They are converted to JSON Lines, ordered by time, and then read like any other history.
//
//	lock.name       the lock
//	lock.operation  acquire, verify, release, or hold: a span from the grant to the release; default: the span's name
//	lock.outcome    ok, refused (by an acquire; of a verify: not held), failed (it certainly did not happen) or unknown;
//	                default: ok if the span's status is OK, and else unknown
//	lock.client     the caller; default: the resource and the thread (thread.id)
//	lock.token      the fencing token of a grant
//	lock.permits    the number of permits that are taken or given back
//	lock.mode       read or write
//
// The resource's host.name is the machine.

// The parts of OpenTelemetry's JSON format (OTLP) that are read.
type (
	otlpFile struct {
		Resources []otlpResource `json:"resourceSpans"`
	}
	otlpResource struct {
		Resource struct {
			Attributes otlpAttributes `json:"attributes"`
		} `json:"resource"`
		Scopes []struct {
			Spans []otlpSpan `json:"spans"`
		} `json:"scopeSpans"`
	}
	otlpSpan struct {
		ID         string         `json:"spanId"`
		Name       string         `json:"name"`
		Start      jsontext.Value `json:"startTimeUnixNano"`
		End        jsontext.Value `json:"endTimeUnixNano"`
		Attributes otlpAttributes `json:"attributes"`
		Status     struct {
			Code jsontext.Value `json:"code"`
		} `json:"status"`
	}
	otlpAttributes []struct {
		Key   string `json:"key"`
		Value struct {
			String *string        `json:"stringValue"`
			Int    jsontext.Value `json:"intValue"`
			Bool   *bool          `json:"boolValue"`
		} `json:"value"`
	}
)

// get is the value of an attribute as text; "" if the attribute is missing.
func (a otlpAttributes) get(key string) string {
	for _, of := range a {
		switch {
		case of.Key != key:
		case of.Value.String != nil:
			return *of.Value.String
		case of.Value.Bool != nil:
			return strconv.FormatBool(*of.Value.Bool)
		case len(of.Value.Int) > 0:
			return unquoted(of.Value.Int)
		}
	}
	return ""
}

// unquoted is the text of a number, which OTLP may write as a string.
func unquoted(v jsontext.Value) string { return strings.Trim(string(v), `"`) }

// mostSpans is the largest number of spans with a lock in a file.
const mostSpans = 1 << 21

// isSpans reports whether a file is in OTLP: its first field is resourceSpans.
func isSpans(r io.Reader) bool {
	d := jsontext.NewDecoder(io.LimitReader(r, 1<<12))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	t, err := d.ReadToken()
	return err == nil && t.Kind() == '"' && t.String() == "resourceSpans"
}

// spans converts OTLP's spans to events.
type spans struct {
	name    string
	assumed Header
	events  []spanEvent
	locks   map[string]uint16
	header  Header
	clients map[string]int32
	called  []string // by client number: the client's name
	hosts   map[string]bool
	other   int // number of spans without the attribute lock.name
}

// spanned has what is known about the spans of a history and is not in its events.
type spanned struct {
	called, places []string // names of clients and hosts; see [history.History]
	hosts          int      // number of hosts with different clocks
	other          int      // number of spans without the attribute lock.name
}

// spanEvent is the call or the answer of a span's operation.
type spanEvent struct {
	event history.Event
	host  string
	span  *otlpSpan // the span, for error messages
}

// readSpans converts OTLP's spans to the text of a history in JSON Lines.
func readSpans(r io.Reader, name string, assumed Header) (text []byte, about *spanned, err error) {
	s := spans{name: name, assumed: assumed, locks: make(map[string]uint16), clients: make(map[string]int32), called: []string{""}, hosts: make(map[string]bool)}
	s.header = assumed
	s.header.Locks = nil
	d := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for n := 1; ; n++ {
		var file otlpFile
		if err := json.UnmarshalDecode(d, &file); err == io.EOF {
			break
		} else if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, nil, fmt.Errorf("%s: document %d of spans: found the end of the file within it; expected OTLP in JSON, one document or one a line", style.Printable(name), n)
		} else if err != nil {
			return nil, nil, fmt.Errorf("%s: document %d of spans: %w; expected OTLP in JSON, one document or one a line", style.Printable(name), n, err)
		}
		for i := range file.Resources {
			if err := s.resource(&file.Resources[i]); err != nil {
				return nil, nil, err
			}
		}
	}
	if len(s.events) == 0 {
		return nil, nil, fmt.Errorf("%s: no span is of a lock: expected spans with the attributes lock.name and lock.outcome", style.Printable(name))
	}
	if err := s.order(); err != nil {
		return nil, nil, err
	}
	text, err = s.text()
	about = &spanned{called: s.called, hosts: len(s.hosts), other: s.other}
	for i := range s.events {
		about.places = append(about.places, "span "+style.Printable(s.events[i].span.ID))
	}
	return text, about, err
}

func (s *spans) resource(r *otlpResource) error {
	for i := range r.Scopes {
		for k := range r.Scopes[i].Spans {
			span := &r.Scopes[i].Spans[k]
			if span.Attributes.get("lock.name") == "" {
				s.other++
				continue
			}
			if err := s.span(r.Resource.Attributes, span); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrong is an error about a field of a span.
func (s *spans) wrong(span *otlpSpan, field, found, expected string) error {
	return fmt.Errorf("%s: span %s (%s): %w", style.Printable(s.name), style.Printable(span.ID), style.Printable(span.Name), wrong(field, found, "%s", expected))
}

// span converts a span to a call and an answer. A hold becomes an acquire and a release.
func (s *spans) span(resource otlpAttributes, span *otlpSpan) error {
	call, err := s.operation(span)
	if err != nil {
		return err
	}
	start, err1 := strconv.ParseInt(unquoted(span.Start), 10, 64)
	end, err2 := strconv.ParseInt(unquoted(span.End), 10, 64)
	if err1 != nil || err2 != nil || end < start {
		return s.wrong(span, "endTimeUnixNano", unquoted(span.Start)+" to "+unquoted(span.End), "the nanoseconds of its start and, not before that, of its end")
	}
	call.Process = s.client(resource, span)
	if call.Lock, err = s.lock(span); err != nil {
		return err
	}
	host := resource.get("host.name")
	s.hosts[host] = true
	add := func(e history.Event, f lock.Op, how history.EventType, at int64) {
		e.F, e.Type, e.Time = history.F(f), how, at
		if how == history.Invoke {
			e.Held, e.Token, e.Reason = false, 0, lock.NoReason
		}
		s.events = append(s.events, spanEvent{e, host, span})
	}
	if s.does(span) == "hold" {
		release := call
		release.Held, release.Token = false, 0
		for _, op := range []struct {
			e  history.Event
			f  lock.Op
			at int64
		}{{call, lock.Acquire, start}, {release, lock.Release, end}} {
			add(op.e, op.f, history.Invoke, op.at)
			add(op.e, op.f, history.OK, op.at)
		}
	} else {
		add(call, call.F.Op(), history.Invoke, start)
		add(call, call.F.Op(), call.Type, end)
	}
	if len(s.events) > 2*mostSpans {
		return fmt.Errorf("%s: more than %s operations: expected fewer in one file", style.Printable(s.name), style.Grouped(mostSpans))
	}
	return nil
}

// does is the operation that a span names.
func (s *spans) does(span *otlpSpan) string {
	return cmp.Or(span.Attributes.get("lock.operation"), span.Name)
}

// outcomes are the words that the attribute lock.outcome may have.
var outcomes = words[history.EventType]{
	list:     []word[history.EventType]{{"ok", history.OK}, {"refused", history.Fail}, {"failed", history.Fail}, {"unknown", history.Info}},
	expected: "ok, refused, failed or unknown",
}

// operation returns the answer that a span describes, with its operation.
func (s *spans) operation(span *otlpSpan) (e history.Event, err error) {
	said := s.does(span)
	f, ok := fs.find([]byte(said))
	if op := f.f.Op(); said != "hold" && (!ok || op != lock.Acquire && op != lock.Verify && op != lock.Release) {
		return e, s.wrong(span, "lock.operation", said, "acquire, verify, release or hold")
	}
	e.F, e.Shared = f.f, f.shared
	outcome := span.Attributes.get("lock.outcome")
	if outcome == "" {
		outcome = "unknown"
		if code := unquoted(span.Status.Code); code == "1" || code == "STATUS_CODE_OK" {
			outcome = "ok"
		}
	}
	if e.Type, ok = outcomes.find([]byte(outcome)); !ok {
		return e, s.wrong(span, "lock.outcome", outcome, outcomes.expected)
	}
	if said == "hold" && e.Type != history.OK {
		return e, s.wrong(span, "lock.outcome", outcome, "ok of a hold: what is not held needs no span")
	}
	e.Held = e.Type == history.OK && e.F.Op() != lock.Release
	switch {
	case outcome == "refused" && e.F.Op() == lock.Verify:
		e.Type = history.OK
	case outcome == "refused":
		e.Reason = lock.Full
	}
	return e, s.details(span, &e)
}

// details reads a span's token, permits and mode into an event.
func (s *spans) details(span *otlpSpan, e *history.Event) error {
	if mode := span.Attributes.get("lock.mode"); mode != "" {
		shared, ok := uses.find([]byte(mode))
		if !ok {
			return s.wrong(span, "lock.mode", mode, uses.expected)
		}
		e.Shared = shared
	}
	for _, n := range []struct {
		key   string
		least int64
		most  int64
		set   func(n int64)
	}{
		{"lock.token", 1, history.MaxToken, func(n int64) { e.Token = n }},
		{"lock.permits", 1, maxSlot, func(n int64) { e.Permits = uint16(n) }},
	} {
		text := span.Attributes.get(n.key)
		if text == "" {
			continue
		}
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil || number < n.least || number > n.most {
			return s.wrong(span, n.key, text, fmt.Sprintf("a whole number from %d to %d", n.least, n.most))
		}
		n.set(number)
	}
	if e.Type != history.OK || e.F.Op() == lock.Release {
		e.Token = 0
	}
	return nil
}

// client is the number of the client that a span belongs to; a new client gets a new number.
func (s *spans) client(resource otlpAttributes, span *otlpSpan) int32 {
	var parts []string
	for _, key := range []string{"service.name", "service.instance.id", "host.name", "process.pid"} {
		parts = append(parts, resource.get(key))
	}
	name := cmp.Or(span.Attributes.get("lock.client"), strings.TrimSpace("thread "+span.Attributes.get("thread.id")))
	who := strings.Join(append(parts, name), "\x00")
	n, known := s.clients[who]
	if !known {
		n = int32(len(s.called))
		s.clients[who] = n
		if host := resource.get("host.name"); host != "" {
			name += " of " + host
		}
		s.called = append(s.called, style.Printable(name))
	}
	return n
}

// lock is the number of a span's lock; a new lock gets a new number.
func (s *spans) lock(span *otlpSpan) (uint16, error) {
	name := span.Attributes.get("lock.name")
	n, known := s.locks[name]
	if !known {
		if len(s.locks) == maxHistoryLocks {
			return 0, s.wrong(span, "lock.name", name, "no more than "+style.Plural(maxHistoryLocks, "lock"))
		}
		n = uint16(len(s.locks))
		s.locks[name] = n
		s.header.Locks = append(s.header.Locks, Named{Name: name, Slots: s.assumed.Locks[0].Slots})
	}
	return n, nil
}

// order sorts the events by time. At the same time, calls come before answers, since operations that touch count as
// concurrent. But a client's answer comes before its own next call.
func (s *spans) order() error {
	slices.SortStableFunc(s.events, func(a, b spanEvent) int {
		rank := func(e *spanEvent) int { return min(int(e.event.Type), 1) }
		return cmp.Or(cmp.Compare(a.event.Time, b.event.Time), cmp.Compare(rank(&a), rank(&b)))
	})
	answers := make(map[*otlpSpan][]int) // by span: answers that are not placed yet
	for i := range s.events {
		if e := &s.events[i]; e.event.Type != history.Invoke {
			answers[e.span] = append(answers[e.span], i)
		}
	}
	out, busy, done := make([]spanEvent, 0, len(s.events)), make(map[int32]*otlpSpan), make([]bool, len(s.events))
	answer := func(span *otlpSpan) {
		k := answers[span][0]
		answers[span] = answers[span][1:]
		done[k] = true
		out = append(out, s.events[k])
		delete(busy, s.events[k].event.Process)
	}
	for i := range s.events {
		e := &s.events[i]
		switch before := busy[e.event.Process]; {
		case done[i]:
		case e.event.Type != history.Invoke:
			answer(e.span)
		case before != nil && s.events[answers[before][0]].event.Time > e.event.Time:
			return s.wrong(e.span, "startTimeUnixNano", strconv.FormatInt(e.event.Time, 10),
				"that span "+style.Printable(before.ID)+" of the same client had ended: clients that work at the same time need a lock.client each")
		default:
			if before != nil {
				answer(before)
			}
			busy[e.event.Process] = e.span
			out = append(out, *e)
		}
	}
	s.events = out
	return nil
}

// text returns the history as JSON Lines.
func (s *spans) text() ([]byte, error) {
	var out bytes.Buffer
	w, err := NewWriter(&out, s.header)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return nil, err
	}
	for i := range s.events {
		e := &s.events[i]
		b := fmt.Appendf(nil, `{"type":%q,"process":%d,"f":%q,"value":`, e.event.Type.String(), e.event.Process, e.event.F.String())
		b = appendValue(b, &e.event)
		b = fmt.Appendf(b, `,"time":%d`, e.event.Time)
		if e.event.Reason != lock.NoReason {
			b = fmt.Appendf(b, `,"error":%q`, e.event.Reason.String())
		}
		for _, field := range []struct{ name, text string }{{"lock", s.header.Locks[e.event.Lock].Name}, {"host", e.host}} {
			if field.text == "" {
				continue
			}
			b = append(b, `,"`+field.name+`":`...)
			if b, err = jsontext.AppendQuote(b, field.text); err != nil {
				return nil, s.wrong(e.span, field.name, field.text, "text in UTF-8")
			}
		}
		out.Write(append(b, '}', '\n'))
	}
	return out.Bytes(), nil
}
