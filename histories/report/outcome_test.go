package report

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

// TestOutcome: a violation takes precedence over an interruption, and an interruption over missing answers. A run with
// missing answers is not a success, on the card, in JSON and in JUnit.
func TestOutcome(t *testing.T) {
	passed := PropertyResult{Property: property.MutualExclusion, Checked: 9}
	skipped := PropertyResult{Property: property.NoLeak, Skip: "not offered"}
	violated := PropertyResult{Property: property.Progress, Checked: 9, Violation: &Found{Detail: "stuck"}}
	suspected := PropertyResult{Property: property.HonestVerify, Checked: 9, Violation: &Found{Detail: "odd", Suspected: true}}
	undecided := PropertyResult{Property: property.Linearizable, Undecided: 2, Unclear: "too many at once"}
	accepted := PropertyResult{Property: property.NoLeak, Checked: 9, Violation: &Found{Detail: "odd", Known: &Known{}}}
	expired := PropertyResult{Property: property.NoLeak, Checked: 9, Violation: &Found{Detail: "odd", Known: &Known{Expired: true}}}
	noLeak := property.Set(0).With(property.NoLeak)
	for _, c := range []struct {
		report Report
		want   Outcome
		says   string // the card's text on missing answers; "" for none
	}{
		{Report{Properties: []PropertyResult{passed, skipped}}, OutcomeHolds, ""},
		{Report{Properties: []PropertyResult{passed, skipped}, Required: noLeak}, OutcomeInconclusive, "no-leak is required and was skipped: not offered"},
		{Report{Properties: []PropertyResult{passed}, Required: noLeak}, OutcomeInconclusive, "no-leak is required and was skipped: it was left out"},
		{Report{Properties: []PropertyResult{passed, undecided}}, OutcomeInconclusive, "linearizable is undecided: too many at once"},
		{Report{Properties: []PropertyResult{passed, undecided, violated}}, OutcomeViolated, ""},
		{Report{Properties: []PropertyResult{passed, undecided, suspected}}, OutcomeViolated, ""},
		{Report{Properties: []PropertyResult{skipped}}, OutcomeInconclusive, "nothing was judged: every property was skipped"},
		{Report{}, OutcomeInconclusive, "nothing was judged: every property was skipped"},
		{Report{Mode: Recorded, Properties: []PropertyResult{skipped}}, OutcomeInconclusive, "nothing was judged: the history has no operations"},
		{Report{Interrupted: true, Properties: []PropertyResult{passed, undecided}}, OutcomeInterrupted, ""},
		{Report{Interrupted: true, Properties: []PropertyResult{violated}}, OutcomeViolated, ""},
		{Report{Properties: []PropertyResult{passed, accepted}}, OutcomeKnown, ""},
		{Report{Properties: []PropertyResult{accepted, violated}}, OutcomeViolated, ""},
		{Report{Properties: []PropertyResult{passed, expired}}, OutcomeViolated, ""},
		{Report{Properties: []PropertyResult{accepted, undecided}}, OutcomeInconclusive, "linearizable is undecided: too many at once"},
		{Report{Interrupted: true, Properties: []PropertyResult{accepted}}, OutcomeInterrupted, ""},
		{Report{Scenarios: 19, Least: 19, Properties: []PropertyResult{passed}}, OutcomeHolds, ""},
		{Report{Scenarios: 19, Least: 1000, Properties: []PropertyResult{passed}}, OutcomeInconclusive, "19 executions run: at least 1,000 were to be"},
		{Report{Scenarios: 19, Least: 1000, Properties: []PropertyResult{violated}}, OutcomeViolated, ""},
	} {
		r := &c.report
		if got := r.Outcome(); got != c.want {
			t.Errorf("%+v is %s, want %s", r, got, c.want)
		}
		var card, data strings.Builder
		if err := WriteCard(&card, r, style.Style{Width: 120}); err != nil {
			t.Error(err)
		}
		if err := WriteJSON(&data, r); err != nil {
			t.Error(err)
		}
		if !strings.Contains(card.String(), c.says) || strings.Contains(card.String(), "inconclusive: ") != (c.says != "") {
			t.Errorf("%q is not what the card says:\n%s", c.says, card.String())
		}
		for _, want := range []string{fmt.Sprintf(`"outcome": %q`, c.want), fmt.Sprintf(`"holds": %t`, c.want == OutcomeHolds), c.says} {
			if !strings.Contains(data.String(), want) {
				t.Errorf("no %s in\n%s", want, data.String())
			}
		}
		if suite := junit(t, r); suite.Failures+suite.Errors > 0 != (c.want != OutcomeHolds && c.want != OutcomeKnown) || suite.Tests != len(suite.Cases) {
			t.Errorf("%s in JUnit: %d failures, %d errors, %d of %d cases", c.want, suite.Failures, suite.Errors, suite.Tests, len(suite.Cases))
		}
	}
}

// junit writes a report as JUnit and reads it back.
func junit(t *testing.T, r *Report) junitSuite {
	t.Helper()
	var b strings.Builder
	if err := WriteJUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &suites); err != nil {
		t.Fatal(err)
	}
	return suites.Suite
}

// TestKnownAndBroken: an accepted violation of a promise that the contract demands does not hide another promise that
// is broken.
func TestKnownAndBroken(t *testing.T) {
	accepted := PropertyResult{Property: property.CheapAcquire, Checked: 9, Violation: &Found{Detail: "dear", Known: new(Known)}}
	broken := PropertyResult{Property: property.CheapVerify, Checked: 9, Broken: "dear"}
	for want, properties := range map[string][]PropertyResult{
		"All that is violated here is known":                   {accepted},
		"The violations of its contract are known":             {accepted, broken},
		"Not all of this, and its contract demands none that ": {broken},
	} {
		r := &Report{Contract: new(Contract), Properties: properties}
		if answer := r.answer(promise); !strings.HasPrefix(answer, want) {
			t.Errorf("%q, expected %q", answer, want)
		}
	}
}

// TestDiagnosisAnswer: a diagnosis answers first whether a lock of queues is safe on the server. A lock that was lost,
// or was never free again, had no two holders. Nothing is said of what was not measured.
func TestDiagnosisAnswer(t *testing.T) {
	design := func(name string, cells ...string) DiagnosedDesign { return DiagnosedDesign{Name: name, Cells: cells} }
	safe, unsafe := design("quorum-token", "0", "0"), design("classic-token", "0", "∞")
	const unknown = "Not known: nothing was measured on a server like this one."
	for _, c := range []struct {
		want    string
		designs []DiagnosedDesign
	}{
		{unknown, nil},
		{unknown + " Not measured: a, b.", []DiagnosedDesign{design("a"), design("b", "?", "?")}},
		{"No: each of 1 design below had two holders under some fault of a node or of the network.", []DiagnosedDesign{unsafe}},
		{"No: each of 2 designs below had two holders under", []DiagnosedDesign{unsafe, design("a", "<0.1 lost", "0")}},
		{"Not proved: no two holders were seen of quorum-token.", []DiagnosedDesign{safe}},
		{"Not proved: no two holders were seen of quorum-token, but under some fault of each other design.", []DiagnosedDesign{safe, unsafe}},
		{"Not proved: no two holders were seen of a. Verify refused the holder, though its connection was open: a.", []DiagnosedDesign{design("a", "0 lost")}},
		{"Not proved: no two holders were seen of a. Never free again: a.", []DiagnosedDesign{design("a", "0", "0 stuck")}},
		{"Not proved: no two holders were seen of quorum-token. Not measured: a.", []DiagnosedDesign{safe, design("a")}},
	} {
		want := "Is a lock of queues safe here by itself? " + c.want
		if answer := (&Diagnosis{Designs: c.designs}).answer(); !strings.HasPrefix(answer, want) || strings.HasSuffix(want, ".") && answer != want {
			t.Errorf("%q, expected %q", answer, want)
		}
	}
}

// TestOnlyCrashes: the report answers whether the lock is safe. If no-crash is the only violated safety property, the
// answer is that no client was promised what another client has.
func TestOnlyCrashes(t *testing.T) {
	crash := PropertyResult{Property: property.NoCrash, Checked: 9, Violation: &Found{Detail: "it ended"}}
	twice := PropertyResult{Property: property.MutualExclusion, Checked: 9, Violation: &Found{Detail: "both"}}
	leak := PropertyResult{Property: property.NoLeak, Checked: 9, Violation: &Found{Detail: "left"}}
	accepted := PropertyResult{Property: property.MutualExclusion, Checked: 9, Violation: &Found{Detail: "both", Known: new(Known)}}
	for _, c := range []struct {
		properties []PropertyResult
		want       string
	}{
		{[]PropertyResult{crash, leak}, "Nobody was promised what another has"},
		{[]PropertyResult{crash, twice}, "No: what one client was promised, another has"},
		{[]PropertyResult{twice}, "No: what one client was promised, another has"},
		{[]PropertyResult{accepted, leak}, "All that is violated here is known"},
		{[]PropertyResult{accepted, crash}, "No: what one client was promised, another has"},
	} {
		r := &Report{Contract: new(Contract), Properties: c.properties}
		if answer := r.answer(safety); !strings.HasPrefix(answer, c.want) {
			t.Errorf("%d properties: %q, expected %q", len(c.properties), answer, c.want)
		}
	}
}
