package histories

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/historiestest"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// randomHistory is a random well-formed history of n events, with every kind of event and field.
func randomHistory(seed uint64, n int) *history.History {
	rng := rand.New(rand.NewPCG(seed, 0))
	h := &history.History{Kind: lock.Semaphore, Locks: []string{"jobs", "mails \"é\\\n"}, Slots: []int{3, 0}}
	calling := make(map[int32]history.F)
	for i := range n {
		e := history.Event{Time: int64(i) * 1000, Process: int32(rng.IntN(30))}
		switch f := calling[e.Process]; {
		case rng.IntN(50) == 0:
			e.Process, e.Type, e.F = history.Nemesis, history.Info, history.Crash+history.F(rng.IntN(6))
			if e.F != history.Restart && e.F != history.Other {
				e.Target = int32(rng.IntN(30))
			}
		case f == 0:
			e.F = history.F(lock.Acquire) + history.F(rng.IntN(int(lock.Refresh-lock.Acquire)+1))
			if e.F == history.F(lock.Acquire) {
				e.Priority = uint8(rng.IntN(3))
			}
			e.Lock, e.Slot, e.Slots = uint16(rng.IntN(2)), uint16(rng.IntN(5)), uint16(rng.IntN(3))
			calling[e.Process] = e.F
		default:
			e.F, e.Type, e.Lock = f, history.EventType(1+rng.IntN(3)), uint16(rng.IntN(2))
			e.Slot, e.Slots, e.Held = uint16(rng.IntN(5)), uint16(rng.IntN(3)), rng.IntN(2) == 0
			if e.Type != history.OK {
				e.Reason = lock.Reason(rng.IntN(9))
			}
			calling[e.Process] = 0
		}
		h.Events = append(h.Events, e)
	}
	return h
}

func TestHistoryRoundTrip(t *testing.T) {
	for seed := range uint64(50) {
		h := randomHistory(seed, 300)
		h.GoneLate, h.GoneMayFree, h.Clients = seed%2 == 1, seed%3 == 1, int(seed%4)
		for name, write := range map[string]func(io.Writer, *history.History) error{"JSON Lines": WriteHistory, "EDN": WriteEDN} {
			var b bytes.Buffer
			if err := write(&b, h); err != nil {
				t.Fatal(err)
			}
			back, notes, err := ReadHistory(bytes.NewReader(b.Bytes()), name, HeaderOf(h))
			if err != nil || notes != (Notes{}) {
				t.Fatalf("%s: %v, %+v", name, err, notes)
			}
			for i := range h.Events {
				if i < len(back.Events) && back.Events[i] != h.Events[i] {
					t.Fatalf("%s: event %d reads back as %+v, was %+v", name, i, back.Events[i], h.Events[i])
				}
			}
			if !reflect.DeepEqual(back, h) {
				t.Fatalf("%s: reads back with %d events for %d, as %s", name, len(back.Events), len(h.Events), back.Kind)
			}
		}
	}
}

// TestImport reads the recorded histories in testdata, and compares them with their expected form in JSON Lines.
func TestImport(t *testing.T) {
	files, err := filepath.Glob("../testdata/histories/*.edn")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, path := range files {
		assumed := Unnamed
		if strings.Contains(path, "semaphore") {
			assumed = Header{Kind: lock.Semaphore, Locks: []Named{{Name: "jobs", Slots: 2}}}
		}
		h, notes, err := LoadHistory(path, assumed)
		if err != nil {
			t.Error(err)
			continue
		}
		var b strings.Builder
		if err := WriteHistory(&b, h); err != nil {
			t.Fatal(err)
		}
		historiestest.Golden(t, strings.TrimSuffix(filepath.Base(path), "edn")+"jsonl", b.String())
		again, _, err := ReadHistory(strings.NewReader(b.String()), path, Header{})
		if err != nil || !reflect.DeepEqual(again, h) {
			t.Errorf("%s: reads back differently: %v", path, err)
		}
		t.Logf("%s: %d events, %+v", path, len(h.Events), notes)
	}
}

// TestHistoryErrors reads invalid histories, one in each paragraph of a file, and compares the errors with another
// file.
func TestHistoryErrors(t *testing.T) {
	for _, name := range []string{"jsonl", "edn"} {
		data, err := os.ReadFile("../testdata/histories/bad/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for paragraph := range strings.SplitSeq(string(data), "\n\n") {
			h, _, err := ReadHistory(strings.NewReader(paragraph), name, Unnamed)
			if err == nil {
				t.Errorf("no error, but %+v, in\n%s", h, paragraph)
				continue
			}
			said.WriteString(strings.TrimSpace(paragraph) + "\n    " + err.Error() + "\n\n")
		}
		historiestest.Golden(t, "bad/"+name+"-said.txt", said.String())
	}
}

func TestReadLongLine(t *testing.T) {
	_, _, err := ReadHistory(strings.NewReader("{\"type\":\"invoke\",\"process\":1,\"f\":\"acquire\"}\n"+strings.Repeat(" ", maxEventLine+1)), "long", Unnamed)
	if err == nil || !strings.Contains(err.Error(), "long:2: found more than 1 MB") {
		t.Error(err)
	}
	_, _, err = ReadHistory(strings.NewReader("{:a \""+strings.Repeat(" ", maxForm)), "long", Unnamed)
	if err == nil || !strings.Contains(err.Error(), "more than 4 MB") {
		t.Error(err)
	}
}

// TestReadFails: an error of the disk in reading a history is returned.
func TestReadFails(t *testing.T) {
	broken := errors.New("broken disk")
	for _, start := range []string{"", "{\"type\":\"invoke\",\"process\":1,\"f\":\"acquire\"}\n", "{:type :invoke, "} {
		_, _, err := ReadHistory(io.MultiReader(strings.NewReader(start), failing{broken}), "disk", Unnamed)
		if err == nil || !strings.Contains(err.Error(), "broken disk") {
			t.Errorf("%q: %v", start, err)
		}
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// TestValues: the value of a written event has those fields of its operation that are not zero, and no others.
func TestValues(t *testing.T) {
	h := &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{1}}
	for f := history.F(lock.Acquire); f <= history.Audit; f++ {
		if f.String() == "" {
			continue
		}
		process, types := int32(1), []history.EventType{history.Invoke, history.OK, history.Fail, history.Info}
		if f >= history.Crash {
			process, types = history.Nemesis, types[3:]
		}
		for _, typ := range types {
			e := history.Event{Process: process, Type: typ, F: f}
			more := e
			more.Slot, more.Slots, more.Held, more.Target = 3, 2, typ == history.OK, 7
			h.Events = append(h.Events, e, more)
		}
	}
	var b bytes.Buffer
	if err := WriteHistory(&b, h); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "values.jsonl", b.String())
}
