package recorded_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// seedEvents is the maximum number of lines of a seed history. The fuzzer is slow with longer ones.
const seedEvents = 24

// FuzzCheck reads arbitrary text as a history. The text must either be refused, or be judged, reported and shown on a
// page without a crash.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/histories/*.*")
	if err != nil || len(files) == 0 {
		f.Fatal("no histories", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		f.Add(bytes.Join(lines[:min(seedEvents, len(lines))], nil), false)
	}
	f.Add([]byte(`{"lockproof":"history","version":1,"kind":"semaphore","locks":[{"name":"jobs","slots":1},{"name":"<b>","slots":0}]}
{"type":"invoke","process":1,"f":"acquire","lock":"jobs"}
{"type":"ok","process":1,"f":"acquire","lock":"jobs","value":{"slot":1,"held":true}}
{"type":"invoke","process":2,"f":"acquire","lock":"jobs"}
{"type":"info","process":"nemesis","f":"gone","value":{"client":1}}
{"type":"ok","process":2,"f":"acquire","lock":"jobs","value":{"slot":1,"held":true}}
`), true)
	f.Add([]byte(`{:type :invoke :f :acquire :process 0 :value [1 nil]} {:type :ok :f :acquire :process 0 :value [1 {:fence 7}]}
{:type :invoke :f :release :process 0 :value [1 nil]} {:type :info :f :release :process 0}`), false)
	f.Fuzz(func(t *testing.T, data []byte, semaphore bool) {
		kind := lock.Mutex
		if semaphore {
			kind = lock.Semaphore
		}
		checkAndShow(t, data, histories.Header{Kind: kind, Locks: []histories.Named{{Name: "lock", Slots: 1}}})
	})
}

// FuzzMachines reads two arbitrary texts as the recordings of two machines. They must either be refused, or be judged
// without a crash.
func FuzzMachines(f *testing.F) {
	holds := done(1, "acquire", 0, 1) + done(1, "release", 500, 501)
	f.Add([]byte(holds), []byte(done(2, "acquire", 200, 201)+event(300, "invoke", 2, "release", "")+event(301, "info", 2, "release", "")), int64(50e6))
	f.Add([]byte(holds+`{"type":"info","process":"nemesis","f":"crash","value":{"client":1},"time":1700000000300000000}`), []byte(done(1, "release", 1, 2)), int64(1))
	f.Add([]byte(done(1, "verify", 0, 1)), []byte(holds), int64(0))
	f.Fuzz(func(t *testing.T, a, b []byte, bound int64) {
		if bound < 0 || bound > history.MostClockError {
			return
		}
		m, err := histories.ReadMachines([]histories.InputFile{{Name: "a", In: bytes.NewReader(a)}, {Name: "b", In: bytes.NewReader(b)}}, histories.Unnamed, 1<<12)
		if err != nil {
			return
		}
		r, err := recorded.CheckMachines(m, time.Duration(bound), recorded.CheckOptions{Source: "fuzz"})
		if err != nil {
			return
		}
		if err := report.WriteCard(io.Discard, r, style.Style{Width: 80}); err != nil {
			t.Fatal(err)
		}
	})
}

// checkAndShow judges a history and writes the report in every format, unless the history is refused.
func checkAndShow(t *testing.T, data []byte, assumed histories.Header) {
	recording, err := histories.NewRecording(bytes.NewReader(data), "fuzz", assumed)
	if err != nil {
		return
	}
	o := recorded.CheckOptions{Source: "fuzz"}
	r, err := recorded.CheckRecording(recording, o)
	if err != nil {
		return
	}
	h, err := recording.Whole(1 << 10)
	if err != nil {
		t.Fatal(err)
	}
	res := &engine.Result{Report: r, History: h, Reading: o.Reading()}
	for _, write := range []func(io.Writer) error{
		res.WritePage,
		func(w io.Writer) error { return report.WriteJSON(w, r) },
		func(w io.Writer) error { return report.WriteJUnit(w, r) },
		func(w io.Writer) error { return report.WriteSummary(w, r) },
		func(w io.Writer) error { return report.WriteCard(w, r, style.Style{Width: 80}) },
		func(w io.Writer) error { return report.WriteSARIF(w, r, "file") },
		func(w io.Writer) error { return report.WriteAnnotations(w, r, "file") },
	} {
		if err := write(io.Discard); err != nil {
			t.Fatal(err)
		}
	}
}
