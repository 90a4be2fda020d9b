package histories

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/property"
)

// suspectedReport has a violation that fresh clients never showed, one that they showed now and then, and one
// that they were not asked for.
func suspectedReport() *Report {
	return &Report{
		Tool: "0.1.0", Target: "semaphore", Mode: Sampled, Broker: "the simulated broker", Seed: 1, Scenarios: 100,
		Properties: []PropertyResult{
			{Property: property.HonestVerify, Checked: 60, Violation: &Found{
				Detail: "verify told c2 that it holds slot 1 of jobs, which the broker has given to c1", Steps: 9, Scenario: 12,
				Command: "lockproof replay honest-verify.json", Suspected: true, Tries: Tries{Of: 5},
			}},
			{Property: property.EffectiveRelease, Checked: 50, Violation: &Found{
				Detail: "slot 1 is not free", Steps: 7, Scenario: 13, Command: "lockproof replay effective-release.json", Tries: Tries{Shown: 1, Of: 3},
			}},
			{Property: property.CrashFrees, Checked: 40, Violation: &Found{Detail: "c1 is dead, and slot 1 is not free", Steps: 31, Suspected: true}},
			{Property: property.NoLeak, Checked: 30},
		},
	}
}

// TestSuspected: what was seen and not reproduced is no verdict that a replay would deny, and holds no better
// than a violation.
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
	if err := WriteCard(&card, r, Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	golden(t, "card-suspected.txt", card.String())
	if err := WriteJSON(&data, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "suspected.json", data.String())
	if err := WriteJUnit(&junit, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "suspected.xml", junit.String())
}

// TestSuspectedCounterexample: the file of what is suspected says so and can be read; one that contradicts itself
// is refused.
func TestSuspectedCounterexample(t *testing.T) {
	c := sampleCounterexample()
	c.Suspected, c.Tries = true, Tries{Of: 5}
	data, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeCounterexample("file", data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, c) {
		t.Errorf("read back\n%+v\nwant\n%+v", back, c)
	}
	for _, tries := range []Tries{{Shown: 1, Of: 5}, {Of: -1}, {Shown: 6, Of: 5}} {
		c.Tries = tries
		if data, err = c.Encode(); err != nil {
			t.Fatal(err)
		}
		if _, err = DecodeCounterexample("file", data); err == nil {
			t.Errorf("%+v and suspected: no error", tries)
		}
	}
}

// TestCardHasNothingToSayOfNoExecution: under a violation of a history that was handed in stand its detail alone, and no
// empty line.
func TestCardHasNothingToSayOfNoExecution(t *testing.T) {
	r := &Report{Mode: Recorded, Properties: []PropertyResult{{Checked: 1, Violation: &Found{Detail: "c1 and c2 hold it"}}}}
	var b strings.Builder
	if err := WriteCard(&b, r, Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if _, after, _ := strings.Cut(b.String(), "hold it\n"); strings.HasPrefix(strings.TrimLeft(after, " "), "\n\n") {
		t.Errorf("an empty line too many:\n%s", b.String())
	}
}
