package report

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"

	"github.com/lockproof/lockproof/model/property"
)

// sampleSweep is a table of configurations that has at least one example of everything.
func sampleSweep() *Sweep {
	s := &Sweep{
		Tool: "0.1.0", Target: "semaphore", Name: "choices", Broker: "the simulated broker", FailedAcquire: "weak",
		Command: "lockproof campaign run choices.json", Build: "commit 0123456789", Plan: "{\n  \"name\": \"<choices>\"\n}", Spelled: []Spelled{{"ascending", "upwards & <on>"}}, Axes: []string{"order", "durable", "faults"},
		Baseline: []string{"descending", "true", "no faults"}, Of: 9, Elapsed: 75 * time.Second,
		Properties: []property.Property{property.MutualExclusion, property.Linearizable, property.ContiguousSlots},
		LeftOut:    []Count{{Name: "options a and <b>: not together", Number: 4}},
	}
	for _, order := range []string{"descending", "ascending"} {
		for _, durable := range []string{"true", "false"} {
			for _, faults := range []string{"no faults", "1 crash"} {
				r := SweepRow{Values: []string{order, durable, faults}, Command: "lockproof explore -o order=" + order, States: 1234}
				r.Verdicts = []Verdict{Proved, Proved, Proved}
				if order == "ascending" && faults == "1 crash" {
					r.Verdicts[2] = Violated
				}
				if durable == "false" {
					r.Verdicts[1], r.Cut = Undecided, "ended at the bound of memory"
				}
				if durable == "false" && order == "ascending" && faults == "no faults" {
					r.Verdicts[2] = Violated
				}
				if faults == "1 crash" {
					r.Verdicts[0] = Skipped
				}
				if durable == "false" && order == "descending" {
					r.Verdicts[0] = Passed
				}
				if durable == "true" && order == "ascending" && faults == "no faults" {
					r.Verdicts[0] = Undecided
				}
				s.Rows = append(s.Rows, r)
			}
		}
	}
	s.Examples = []SweepExample{{
		AtlasVerdict: AtlasVerdict{Property: property.ContiguousSlots, Verdict: Violated, Steps: 8, Detail: "slot 2 & 3 <are> above a hole", Trace: historiestest.LockedTaken()},
		Row:          5, File: "ce.json", Command: "lockproof replay ce.json",
	}}
	return s
}

func TestSweep(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *Sweep) error{
		"sweep-100.txt": func(w io.Writer, s *Sweep) error { return WriteSweep(w, s, style.Style{Width: 100}) },
		"sweep.json":    WriteSweepJSON,
		"sweep.html":    WriteSweepPage,
	} {
		var b strings.Builder
		if err := write(&b, sampleSweep()); err != nil {
			t.Fatal(err)
		}
		historiestest.Golden(t, name, b.String())
		if strings.HasSuffix(name, ".html") && strings.Contains(b.String(), "<are>") {
			t.Errorf("%s: text is taken for HTML", name)
		}
	}
}

// TestCauses: a cause is a minimal set of values. A larger set that contains it is no cause.
func TestCauses(t *testing.T) {
	s := sampleSweep()
	got := ""
	for _, c := range s.Causes(property.ContiguousSlots) {
		got += c.String() + "\n"
	}
	if want := "order=ascending with 1 crash (all 2)\norder=ascending with durable=false (all 2)\n"; got != want {
		t.Errorf("the causes are\n%s expected\n%s", got, want)
	}
	if i := s.Simplest(property.ContiguousSlots); i != 5 {
		t.Errorf("the simplest configuration is %v", s.Rows[i].Values)
	}
	if s.Simplest(property.MutualExclusion) >= 0 || s.Causes(property.MutualExclusion) != nil {
		t.Error("what holds everywhere has a cause")
	}
	s.Rows[0].Verdicts[2] = Violated
	if causes := s.Causes(property.ContiguousSlots); len(causes) != 1 || causes[0].String() != "the baseline (4 of 8)" {
		t.Errorf("where the baseline loses it, the causes are %v", causes)
	}
	whole := sampleSweep()
	whole.Of = len(whole.Rows)
	if whole.Complete() {
		t.Error("a table is complete of which some was visited in part")
	}
	for i := range whole.Rows {
		whole.Rows[i].Cut = ""
	}
	if !whole.Complete() {
		t.Error("a table is not complete of which all was visited")
	}
	if whole.Of++; whole.Complete() {
		t.Error("a table is complete of which a configuration is missing")
	}
}
