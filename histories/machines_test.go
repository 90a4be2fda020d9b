package histories

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// TestMachines: machine faults are written and read back unchanged, in JSON Lines and in EDN.
func TestMachines(t *testing.T) {
	h := &history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{0}}
	for f := history.Cut; f.Machine(); f++ {
		e := history.Event{Time: int64(f), Process: history.Nemesis, Type: history.Info, F: f}
		if f != history.Heal {
			e.Nodes = history.NodesOf(1, 16)
		}
		if f == history.Cut {
			e.To = history.NodesOf(2)
		}
		h.Events = append(h.Events, e)
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"jsonl": func(b *bytes.Buffer) error { return WriteHistory(b, h) },
		"edn":   func(b *bytes.Buffer) error { return WriteEDN(b, h) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		recording, err := NewRecording(HistoryInput.Stream(name, &b), name, HeaderOf(h))
		if err != nil {
			t.Fatal(err)
		}
		defer recording.Close()
		read, err := recording.Whole(100)
		if err != nil || !slices.Equal(read.Events, h.Events) {
			t.Errorf("%s: read %+v, %v of\n%s", name, read, err, text)
		}
	}
}

// TestMachinesRefused: a machine fault that does not say which nodes it affects is refused.
func TestMachinesRefused(t *testing.T) {
	for value, want := range map[string]string{
		`null`:                     "the numbers of nodes, as nodes",
		`{"nodes":[1]}`:            "as to",
		`{"nodes":[0],"to":[2]}`:   "from 1 to 16",
		`{"nodes":[1,"to":[2]}`:    "found",
		`{"nodes":[1 2],"to":[2]}`: "a comma or a closing bracket",
		`{"nodes":1,"to":[2]}`:     "an array of nodes",
	} {
		line := `{"type":"info","process":"nemesis","f":"start-partition","value":` + value + "}\n"
		recording, err := NewRecording(HistoryInput.Stream("x", strings.NewReader(`{"lockproof":"history","version":1,"kind":"mutex","locks":[{"name":"jobs","slots":0}]}`+"\n"+line)), "x", Header{})
		if err == nil {
			_, err = recording.Whole(10)
			_ = recording.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", value, err, want)
		}
	}
}
