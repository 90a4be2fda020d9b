package report

import (
	"io"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"

	"github.com/lockproof/lockproof/model/property"
)

// suspectedReport has three violations: one that fresh clients never reproduced, one that they reproduced now and then,
// and one that was not tried again.
func suspectedReport() *Report {
	return &Report{
		Tool: "0.1.0", Target: "semaphore", Mode: Sampled, Broker: "the simulated broker", Seed: 1, Scenarios: 100,
		Properties: []PropertyResult{
			{Property: property.HonestVerify, Checked: 60, Violation: &Found{
				Detail: "verify told c2 that it holds slot 1 of jobs, which the broker has given to c1", Steps: 9, Scenario: 12,
				Command: "lockproof replay honest-verify.json", Suspected: true, Tries: histories.Tries{Of: 5},
			}},
			{Property: property.EffectiveRelease, Checked: 50, Violation: &Found{
				Detail: "slot 1 is not free", Steps: 7, Scenario: 13, Command: "lockproof replay effective-release.json", Tries: histories.Tries{Shown: 1, Of: 3},
			}},
			{Property: property.CrashFrees, Checked: 40, Violation: &Found{Detail: "c1 is dead, and slot 1 is not free", Steps: 31, Suspected: true}},
			{Property: property.NoLeak, Checked: 30},
		},
	}
}

// TestSuspected: a violation that was not reproduced has the verdict suspected. It still makes the run fail, like a
// violation.
func TestSuspected(t *testing.T) {
	r := suspectedReport()
	if r.Outcome() != OutcomeViolated {
		t.Error("it holds")
	}
	for p, want := range map[property.Property]Verdict{property.HonestVerify: Suspected, property.CrashFrees: Suspected, property.EffectiveRelease: Violated} {
		if got, _ := r.Verdict(r.Result(p)); got != want {
			t.Errorf("%s is %s, expected %s", p, got, want)
		}
	}
	var card, data, junit strings.Builder
	if err := WriteCard(&card, r, style.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "card-suspected.txt", card.String())
	if err := WriteJSON(&data, r); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "suspected.json", data.String())
	if err := WriteJUnit(&junit, r); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "suspected.xml", junit.String())
}

// TestCardHasNothingToSayOfNoExecution: a violation in a history from a file has no execution. The card then shows only
// its detail, without an empty line.
func TestCardHasNothingToSayOfNoExecution(t *testing.T) {
	r := &Report{Mode: Recorded, Properties: []PropertyResult{{Checked: 1, Violation: &Found{Detail: "c1 and c2 hold it"}}}}
	var b strings.Builder
	if err := WriteCard(&b, r, style.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if _, after, _ := strings.Cut(b.String(), "hold it\n"); strings.HasPrefix(strings.TrimLeft(after, " "), "\n\n") {
		t.Errorf("an empty line too many:\n%s", b.String())
	}
}

// TestWhy: every form of the report says the cause of a violation and what was expected. An execution that violates two
// properties is drawn only once.
func TestWhy(t *testing.T) {
	found := func(cause string) *Found {
		return &Found{Detail: "both hold it", Cause: cause, Expected: "one of them waits.", Diagram: "the steps\n", Steps: 3}
	}
	r := &Report{Target: "a", Mode: Sampled, Scenarios: 1, Properties: []PropertyResult{
		{Property: property.MutualExclusion, Checked: 1, Violation: found("c1 asked nobody.")},
		{Property: property.Linearizable, Checked: 1, Violation: found("")},
	}}
	for name, write := range map[string]func(w io.Writer) error{
		"card":    func(w io.Writer) error { return WriteCard(w, r, style.Style{Width: 100}) },
		"JUnit":   func(w io.Writer) error { return WriteJUnit(w, r) },
		"summary": func(w io.Writer) error { return WriteSummary(w, r) },
		"SARIF":   func(w io.Writer) error { return WriteSARIF(w, r, "") },
		"JSON":    func(w io.Writer) error { return WriteJSON(w, r) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		for text, times := range map[string]int{"c1 asked nobody.": 1, "one of them waits.": 2} {
			if n := strings.Count(b.String(), text); n != times {
				t.Errorf("%s says %q %d times, expected %d:\n%s", name, text, n, times, &b)
			}
		}
		if drawn := strings.Count(b.String(), "the steps"); (name == "JUnit" || name == "summary") && (drawn != 1 || !strings.Contains(b.String(), "drawn at mutual-exclusion")) {
			t.Errorf("%s draws it %d times:\n%s", name, drawn, &b)
		}
	}
}

// TestKnownAmongOthers: if a violation is known but other executions violate the property too, the card says so.
func TestKnownAmongOthers(t *testing.T) {
	for violating, want := range map[int]bool{1: false, 3: true} {
		p := PropertyResult{Property: property.Progress, Checked: 9, Violating: violating, Violation: &Found{Detail: "stuck", Known: new(Known)}}
		r := &Report{Target: "a", Mode: Sampled, Scenarios: 9, Properties: []PropertyResult{p}}
		var card strings.Builder
		if err := WriteCard(&card, r, style.Style{Width: 200}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(card.String(), "in 2 other executions the property is violated as well"); said != want {
			t.Errorf("%d executions violate it, and the card says:\n%s", violating, &card)
		}
	}
}
