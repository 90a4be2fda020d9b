package recorded_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
)

// day is a time in milliseconds since 1970.
const day = 1_700_000_000_000

// event returns a line of a recorded history. at is its time in milliseconds after day.
func event(at int, kind string, process int, f, more string) string {
	return fmt.Sprintf(`{"type":%q,"process":%d,"f":%q,"time":%d000000%s}`+"\n", kind, process, f, day+at, more)
}

// done returns the invocation and the success of an operation.
func done(process int, f string, from, to int) string {
	return event(from, "invoke", process, f, "") + event(to, "ok", process, f, "")
}

// checkFiles judges the recordings of several machines.
func checkFiles(t *testing.T, bound time.Duration, texts ...string) (*report.Report, error) {
	t.Helper()
	var files []histories.InputFile
	for i, text := range texts {
		files = append(files, histories.InputFile{Name: string(rune('a' + i)), In: strings.NewReader(text)})
	}
	m, err := histories.ReadMachines(files, histories.Unnamed, recorded.MostEvents)
	if err != nil {
		return nil, err
	}
	return recorded.CheckMachines(m, bound, recorded.CheckOptions{Source: "files"})
}

// TestMachines checks that operations of two machines count as concurrent if their times are closer than the clock
// error.
func TestMachines(t *testing.T) {
	holds := done(1, "acquire", 0, 1) + done(1, "release", 500, 501)
	overlaps := done(2, "acquire", 200, 201) + done(2, "release", 700, 701)
	const host = `,"host":"h%d","pid":7,"session":"s","mono":12`
	for _, test := range []struct {
		name    string
		bound   time.Duration
		files   []string
		outcome report.Outcome
		says    string
	}{
		{"they overlap", 50 * time.Millisecond, []string{holds, overlaps}, report.OutcomeViolated, "differ by at most 50ms"},
		{"in the other order", 50 * time.Millisecond, []string{overlaps, holds}, report.OutcomeViolated, ""},
		{"by less than clocks differ", 300 * time.Millisecond, []string{holds, overlaps}, report.OutcomeHolds, ""},
		{"one clock", 0, []string{holds, overlaps}, report.OutcomeViolated, "one clock"},
		{"one after the other", 0, []string{holds, done(2, "acquire", 502, 503)}, report.OutcomeHolds, ""},
		{"a release that overlaps", 0, []string{holds, done(2, "acquire", 499, 501)}, report.OutcomeHolds, ""},
		{"one process number", 50 * time.Millisecond, []string{holds, strings.ReplaceAll(overlaps, `"process":2`, `"process":1`)}, report.OutcomeViolated, ""},
		{"short holds", 50 * time.Millisecond, []string{done(1, "acquire", 0, 1) + done(1, "release", 2, 3), done(2, "acquire", 1, 2) + done(2, "release", 3, 4)}, report.OutcomeInconclusive, "2 of 2 holds may have been shorter"},
		{"two clients of one machine", 50 * time.Millisecond, []string{holds, done(2, "acquire", 600, 601) + done(3, "acquire", 602, 603)}, report.OutcomeViolated, ""},
		{"a release of nothing", 50 * time.Millisecond, []string{holds, done(2, "release", 900, 901)}, report.OutcomeViolated, ""},
		{"an acquire of unknown outcome", 50 * time.Millisecond, []string{holds, event(600, "invoke", 2, "acquire", "") + event(700, "info", 2, "acquire", "") + done(2, "release", 900, 901)}, report.OutcomeHolds, ""},
		{"the holder crashed", 50 * time.Millisecond, []string{done(1, "acquire", 0, 1) + `{"type":"info","process":"nemesis","f":"crash","value":{"client":1},"time":1700000000300000000}`, overlaps}, report.OutcomeHolds, ""},
		{"no release, ever", 50 * time.Millisecond, []string{done(1, "acquire", 0, 1), overlaps}, report.OutcomeViolated, ""},
		{"a time goes back", 50 * time.Millisecond, []string{holds, done(2, "acquire", 200, 190)}, report.OutcomeInconclusive, ""},
		{"hosts in one file", 50 * time.Millisecond, []string{
			event(200, "invoke", 1, "acquire", fmt.Sprintf(host, 1)) + event(201, "ok", 1, "acquire", fmt.Sprintf(host, 1)) +
				event(0, "invoke", 1, "acquire", fmt.Sprintf(host, 2)) + event(1, "ok", 1, "acquire", fmt.Sprintf(host, 2)),
		}, report.OutcomeViolated, "2 machines"},
	} {
		r, err := checkFiles(t, test.bound, test.files...)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if said := strings.Join(r.Readings, "\n"); r.Outcome() != test.outcome || !strings.Contains(said, test.says) {
			t.Errorf("%s: %s, expected %s; read as %s", test.name, r.Outcome(), test.outcome, said)
		}
	}
}

// TestMachinesRefused checks that recordings are refused which cannot be ordered by time.
func TestMachinesRefused(t *testing.T) {
	holds := done(1, "acquire", 0, 1) + done(1, "release", 500, 501)
	for _, test := range []struct {
		second, says string
	}{
		{`{"type":"invoke","process":2,"f":"acquire"}`, "1 event has no time"},
		{done(1, "acquire", 600, 601), "it may be one client or two"},
		{`{"type":"invoke","process":2,"f":"acquire","time":9000000000000000000}`, "found the time"},
		{event(1, "invoke", 2, "create", `,"value":{"slots":1}`), "create is not judged"},
		{`{"lockproof":"history","version":1,"kind":"semaphore","locks":[{"name":"lock","slots":1}]}` + "\n", "found a history of a semaphore"},
		{"nonsense", "b:1"},
	} {
		if _, err := checkFiles(t, time.Millisecond, holds, test.second); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v, expected %q", err, test.says)
		}
	}
}

// run draws the recordings of a mutex on several machines whose clocks differ.
type run struct {
	r     *rand.Rand
	files []strings.Builder
	skew  []int // error of each machine's clock, in milliseconds
}

// write records an event that happens at a true time. The recorded time is that of the machine's clock.
func (r *run) write(at int, kind string, client int, f string) {
	m := client % len(r.files)
	r.files[m].WriteString(event(at+r.skew[m], kind, client, f, ""))
}

// call records an operation that takes effect at the time at. It begins up to 29 ms earlier and ends up to 30 ms later.
// The result is the time at which it ends.
func (r *run) call(at, client int, f string) (answered int) {
	begin, end := at-r.r.IntN(30), at+1+r.r.IntN(30)
	kind := "ok"
	if r.r.IntN(12) == 0 {
		kind = "info"
	}
	r.write(begin, "invoke", client, f)
	r.write(end, kind, client, f)
	return end
}

// TestMachinesSound draws clocks that differ by less than the bound. A correct mutex must never look wrong. Two holds
// that overlap for longer than the bound must always be found.
func TestMachinesSound(t *testing.T) {
	const bound = 40
	judged := 0
	for seed := range uint64(600) {
		r := &run{r: rand.New(rand.NewPCG(seed, 7)), files: make([]strings.Builder, 3), skew: []int{0, 0, 0}}
		for m := range r.skew {
			r.skew[m] = r.r.IntN(bound + 1)
		}
		at := 100
		for i := range 8 {
			client := 1 + i%5
			at = r.call(at+31, client, "acquire") + 31 + r.r.IntN(60)
			r.call(at, client, "release")
		}
		texts := func() (all []string) {
			for i := range r.files {
				all = append(all, r.files[i].String())
			}
			return all
		}
		res, err := checkFiles(t, bound*time.Millisecond, texts()...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if res.Outcome() == report.OutcomeViolated {
			t.Fatalf("seed %d: a right mutex is accused: %+v\n%s", seed, res.Result(property.Linearizable), strings.Join(texts(), "\n"))
		}
		judged += res.Result(property.Linearizable).Checked
		for i, client := range []int{21, 22} { // clients on two different machines
			r.write(at+100+i, "invoke", client, "acquire")
			r.write(at+110+i, "ok", client, "acquire")
			r.write(at+200+i, "invoke", client, "release")
			r.write(at+210+i, "ok", client, "release")
		}
		if res, err = checkFiles(t, bound*time.Millisecond, texts()...); err != nil || res.Outcome() != report.OutcomeViolated {
			t.Fatalf("seed %d: a mutex granted twice is not accused: %v\n%s", seed, err, strings.Join(texts(), "\n"))
		}
	}
	if judged < 600 {
		t.Errorf("only %d operations were judged", judged)
	}
}

// TestReentrant checks that a reentrant mutex is free only after as many releases as acquires, whether one machine or
// two recorded the history.
func TestReentrant(t *testing.T) {
	twice := done(1, "acquire", 0, 1) + done(1, "acquire", 100, 101) + done(1, "release", 200, 201)
	for _, test := range []struct {
		name, first, second string
		outcome             report.Outcome
	}{
		{"it is still held", twice, done(2, "acquire", 400, 401), report.OutcomeViolated},
		{"it is free", twice + done(1, "release", 300, 301), done(2, "acquire", 400, 401), report.OutcomeHolds},
		{"too often", twice + done(1, "acquire", 300, 301) + done(1, "acquire", 400, 401), done(2, "verify", 0, 1), report.OutcomeViolated},
	} {
		o := recorded.CheckOptions{Source: test.name, Reentrant: 2}
		text := test.first + strings.Replace(test.second, `"ok","process":2,"f":"verify"`, `"fail","process":2,"f":"verify"`, 1)
		recording, err := histories.NewRecording(strings.NewReader(text), test.name, histories.Unnamed)
		if err != nil {
			t.Fatal(err)
		}
		o.Order = recorded.ByTime
		r, err := recorded.CheckRecording(recording, o)
		if err != nil || r.Outcome() != test.outcome {
			t.Errorf("%s: %v, %v", test.name, r, err)
		}
	}
	files := []histories.InputFile{{Name: "a", In: strings.NewReader(twice)}, {Name: "b", In: strings.NewReader(done(2, "acquire", 400, 401))}}
	m, err := histories.ReadMachines(files, histories.Unnamed, recorded.MostEvents)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recorded.CheckMachines(m, 50*time.Millisecond, recorded.CheckOptions{Source: "machines", Reentrant: 2})
	if err != nil || r.Outcome() != report.OutcomeViolated {
		t.Errorf("two machines: %v, %v", r, err)
	}
}
