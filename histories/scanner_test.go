package histories

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// FuzzJSONLines compares the hand-written reader with the JSON library. A line that the reader accepts as an event is a
// JSON object with the same content.
func FuzzJSONLines(f *testing.F) {
	f.Add([]byte(`{"index":0,"type":"ok","process":1,"f":"acquire","value":{"slot":1,"held":true},"time":4000000,"error":"full"}`))
	f.Add([]byte(`{"type":"info","process":"nemesis","f":"gone","value":{"client":1},"time":-5, "lock": "lo\u0063k"}`))
	f.Add([]byte(`{"lockproof":"history","version":1,"kind":"semaphore","locks":[{"name":"jobs","slots":2}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, _, err := ReadHistory(bytes.NewReader(data), "fuzz", Unnamed); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %q", err)
		}
		r := Reader{locks: Unnamed.vocabulary()}
		r.scanner.reset(data)
		var d draft
		if r.event(&d); r.scanner.err != nil {
			return
		}
		var said struct {
			Index, Time, PID, Mono        int64
			Type, F, Error, Session, Host string
			Lock                          *string
			Process                       jsontext.Value
			Value                         struct {
				Slot, Slots, Permits uint16
				Priority             uint8
				Token                int64
				Held                 bool
				Client               int32
				Mode                 string
				Nodes, To            []int
			}
		}
		err := json.Unmarshal(data, &said, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(true))
		if err != nil {
			t.Fatalf("%s\nis an event, but %v", data, err)
		}
		e := d.event
		if f, ok := fs.find([]byte(said.F)); ok { // some operations have two words
			said.F = f.f.String()
		}
		if why, ok := reasons.find([]byte(said.Error)); ok {
			said.Error = why.String()
		}
		if d.index != said.Index || e.Time != said.Time || d.has&hasF != 0 && e.F.String() != said.F ||
			d.has&hasType != 0 && e.Type.String() != said.Type || e.Reason.String() != said.Error ||
			e.Slot != said.Value.Slot || e.Slots != said.Value.Slots || e.Permits != said.Value.Permits || e.Held != said.Value.Held || e.Target != said.Value.Client {
			t.Errorf("%s\nread as %+v", data, d)
		}
	})
}

func FuzzEDN(f *testing.F) {
	f.Add([]byte("{:type :invoke, :f :acquire, :value nil, :process 0, :time 12345, :index 0}\n#jepsen.history.Op{:index 1 :type :ok :process 0 :f :lock :value [1 2]}"))
	f.Add([]byte(`[{:process :nemesis :f :lockproof/gone :value {:client 1}} #_ {:a ##NaN} ; no` + "\n" + `{:type :info :process 2N, :f :unlock, :error [:timeout "\u00e9\"" #inst "2026"]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewEDNReader(bytes.NewReader(data), "fuzz", Unnamed)
		h := Unnamed.history()
		var e history.Event
		err := r.Read(&e)
		for ; err == nil; err = r.Read(&e) {
			h.Events = append(h.Events, e)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %q", err)
		}
		var b bytes.Buffer
		if err := WriteEDN(&b, h); err != nil {
			t.Fatal(err)
		}
		back, _, err := ReadHistory(bytes.NewReader(b.Bytes()), "again", Unnamed)
		if err != nil && len(h.Events) > 0 || err == nil && len(back.Events) != len(h.Events) {
			t.Errorf("what was written does not read: %v\n%s", err, b.Bytes())
		}
	})
}

func BenchmarkReadHistory(b *testing.B) { benchmarkRead(b, WriteHistory) }
func BenchmarkReadEDN(b *testing.B)     { benchmarkRead(b, WriteEDN) }

// longHistory is a usual history: thirty clients acquire and release slots.
func longHistory(events int) *history.History {
	h := &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{30}}
	for i := range events {
		round, client := i/30, int32(i%30+1)
		e := history.Event{Time: int64(i) * 1_000_003, Process: client, F: history.F(lock.Acquire)}
		if round%4 > 1 {
			e.F, e.Slot = history.F(lock.Release), uint16(client)
		}
		if round%2 == 1 {
			e.Type, e.Slot, e.Held = history.OK, uint16(client), round%4 == 1
		}
		h.Events = append(h.Events, e)
	}
	return h
}

func benchmarkRead(b *testing.B, write func(io.Writer, *history.History) error) {
	const events = 100_000
	h := longHistory(events)
	var file bytes.Buffer
	if err := write(&file, h); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if _, _, err := ReadHistory(bytes.NewReader(file.Bytes()), "bench", HeaderOf(h)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

func BenchmarkWriteHistory(b *testing.B) {
	const events = 100_000
	h := longHistory(events)
	for b.Loop() {
		if err := WriteHistory(io.Discard, h); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// TestText reads every short string made of quotes, backslashes, letters, control characters and others. The scanner
// reads it like the JSON library, or both refuse it.
func TestText(t *testing.T) {
	pieces := []string{`"`, `\`, "a", "n", "u0041", " ", "\x1f", "é"}
	texts := []string{""}
	for from, length := 0, 0; length < 4; length++ {
		for to := len(texts); from < to; from++ {
			for _, p := range pieces {
				texts = append(texts, texts[from]+p)
			}
		}
	}
	for _, text := range texts {
		line := append(append([]byte{'"'}, text...), '"')
		var want string
		wrong := json.Unmarshal(line, &want)
		var s scanner
		s.reset(line)
		got := s.text()
		if whole := s.err == nil && s.at == len(line); whole != (wrong == nil) || whole && string(got) != want {
			t.Errorf("%s is read as %q to %d, %v; by the library %q, %v", line, got, s.at, s.err, want, wrong)
		}
	}
}

// TestWord: a word such as null may end a line, and an incomplete word is refused.
func TestWord(t *testing.T) {
	for text, want := range map[string]bool{"null": true, " null": true, "null,": true, "nul": false, "": false, "Null": false, "nil null": false} {
		var s scanner
		s.reset([]byte(text))
		if got := s.null(); got != want || got && s.at != strings.Index(text, "null")+4 {
			t.Errorf("%q is null: %v, read to %d", text, got, s.at)
		}
	}
}
