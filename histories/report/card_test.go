package report

import (
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

func spread(counts ...int) (s Spread) {
	for _, n := range counts {
		s.Add(n)
	}
	return s
}

// sampleReport is a report with every verdict that a sampled run can give.
func sampleReport() *Report {
	r := &Report{
		Tool: "0.1.0", Target: "semaphore", Doc: "persistent semaphore: A queues are slots, exclusive B queues are holders",
		Mode: Sampled, Broker: "the simulated broker", Seed: 1, FailedAcquire: "weak",
		Command: "lockproof prove --scenarios 10000 -o retries=0 -o link=tx", Fixed: []string{"retries=0", "link=tx"},
		Scenarios: 10000, Steps: 412034, Commands: 398114, Operations: 61020, Elapsed: 3217 * time.Millisecond,
		Efficiency: []EfficiencyRow{
			{Operation: "acquire", Situation: "uncontended, slot 1", Count: 1204, Commands: spread(6), RoundTrips: spread(2), Unpipelined: spread(6), Channels: spread(0), Connections: spread(0), Budget: &Budget{RoundTrips: 4}},
			{Operation: "acquire", Situation: "full, 3 slots", Count: 310, Commands: spread(7, 8), RoundTrips: spread(2, 5, 2), Unpipelined: spread(7, 8), Channels: spread(0, 1), Connections: spread(0), Budget: &Budget{RoundTrips: -1}},
			{Operation: "verify", Count: 20120, Commands: spread(1), RoundTrips: spread(1), Unpipelined: spread(1), Channels: spread(0), Connections: spread(0), Budget: &Budget{RoundTrips: 1}},
			{Operation: "release", Count: 18400, Commands: spread(1), RoundTrips: spread(1), Unpipelined: spread(1), Channels: spread(0), Connections: spread(0)},
		},
		Stale:     Overlap{Commands: 14, Time: 350 * time.Millisecond, Own: 380 * time.Millisecond, Scenarios: 212},
		Exercised: []Exercise{{"crash", 4210}, {"restart", 880}, {"RESOURCE_LOCKED", 3201}, {"full", 2999}, {"gave-up", 0}, {"expiry", 0}},
	}
	for p := range property.NoCrash + 1 {
		r.Properties = append(r.Properties, PropertyResult{Property: p, Evidence: property.Properties[p].Evidence, Checked: 100 + 9871*int(p), Scenarios: 10000})
	}
	r.Properties[property.Linearizable].Note = "failed acquires: weak"
	r.Properties[property.Linearizable].Undecided = 3
	r.Properties[property.SurvivesRestart].Checked = 0
	r.Properties[property.NoLeak].Skip = "the target offers no destroy"
	r.Properties[property.HonestVerify].Violating = 12
	r.Properties[property.HonestVerify].Violation = &Found{
		Detail: "verify told c2 that it holds slot 1 of jobs, which the broker has given to c1",
		Steps:  9, Scenario: 1207, File: "counterexamples/honest-verify.json",
		Command: "lockproof replay counterexamples/honest-verify.json", Diagram: "step  c1 ]]> \x1b[31m c2\n",
	}
	return r
}

func TestCard(t *testing.T) {
	proved := sampleReport()
	proved.Mode, proved.Bounds, proved.Elapsed = Visited, "3 clients, 2 rounds, 1 crash", 0
	cut := sampleReport()
	cut.Mode, cut.Bounds, cut.Runs = Visited, "2 clients, 1 round", &Runs{Whole: 4990, Blocked: 10, Incomplete: "only 5000 runs were allowed"}
	for name, c := range map[string]struct {
		report *Report
		style  style.Style
	}{
		"card-100.txt":    {sampleReport(), style.Style{Width: 100}},
		"card-120.txt":    {sampleReport(), style.Style{Width: 120}},
		"card-80.txt":     {sampleReport(), style.Style{Width: 80}},
		"card-color.txt":  {sampleReport(), style.Style{Width: 100, Color: true}},
		"card-proved.txt": {proved, style.Style{Width: 120}},
		"card-runs.txt":   {cut, style.Style{Width: 100}},
	} {
		var b strings.Builder
		if err := WriteCard(&b, c.report, c.style); err != nil {
			t.Fatal(err)
		}
		historiestest.Golden(t, name, b.String())
	}
}

// TestCardFits: no line of the card is wider than the terminal, except commands to be typed. No word is broken.
func TestCardFits(t *testing.T) {
	wide := sampleReport()
	for i := range wide.Efficiency {
		wide.Efficiency[i].Count *= 1000
		wide.Efficiency[i].Channels = spread(0, 1, 2)
	}
	wide.Efficiency = append(wide.Efficiency, EfficiencyRow{
		Operation: "acquire", Situation: "withdrawn or given up", Count: 1_041_061, Commands: spread(5, 54, 10), RoundTrips: spread(3, 21),
		Unpipelined: spread(5, 41), Channels: spread(0, 3), Connections: spread(0, 1), Budget: &Budget{RoundTrips: 4},
	})
	var words []string
	for _, columns := range []int{80, 90, 100, 120, 160, 200} {
		var b strings.Builder
		if err := WriteCard(&b, wide, style.Style{Width: columns}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if !strings.Contains(line, "lockproof ") && utf8.RuneCountInString(line) > columns {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
		words = append(words, strings.Fields(b.String())...)
	}
	var widest strings.Builder
	if err := WriteCard(&widest, wide, style.Style{Width: 1000}); err != nil {
		t.Fatal(err)
	}
	whole := make(map[string]bool)
	for _, word := range strings.Fields(widest.String()) {
		whole[strings.Trim(word, "();")] = true
	}
	for _, word := range words {
		if !whole[strings.Trim(word, "();")] {
			t.Errorf("%q is no word of the widest card", word)
		}
	}
}

func TestReportFiles(t *testing.T) {
	var b strings.Builder
	if err := WriteJSON(&b, sampleReport()); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "report.json", b.String())
	b.Reset()
	if err := WriteJUnit(&b, sampleReport()); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "report.xml", b.String())
	if err := xml.Unmarshal([]byte(b.String()), new(junitSuites)); err != nil {
		t.Error(err)
	}
}

// TestReportOfAnyNumber: the card and the JSON show what a search for any number of clients has visited.
func TestReportOfAnyNumber(t *testing.T) {
	r := sampleReport()
	r.Mode, r.Views = Visited, &Views{Searches: 2, Contexts: 7, Views: 281, Parts: 50, Holders: 1, Cutoff: 2, Tried: 2}
	r.Bounds = "any number of clients, 1 slot"
	var card, file strings.Builder
	if err := errors.Join(WriteCard(&card, r, style.Style{Width: 120}), WriteJSON(&file, r)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"every execution covered of any number of clients, 1 slot", "proved for     any number of clients, 1 slot",
		"281 views · 7 contexts · 50 client parts · 1 client holding something at once",
		"cut-off        every view is reached by executions of 2 clients of each kind",
	} {
		if !strings.Contains(card.String(), want) {
			t.Errorf("%s\nlacks %q", card.String(), want)
		}
	}
	for want, v := range map[string]Views{"not seen with up to 3 clients of each kind": {Tried: 3}, "not looked for": {}} {
		if got := v.cutoff(); got != want {
			t.Errorf("%+v: %q, want %q", v, got, want)
		}
	}
	var read struct{ Views Views }
	if err := json.Unmarshal([]byte(file.String()), &read, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	read.Views.Parts, read.Views.Tried = 50, 2 // in the JSON they are clientParts and cutoffTried
	if read.Views != *r.Views || !strings.Contains(file.String(), `"clientParts": 50`) || !strings.Contains(file.String(), `"cutoffTried": 2`) {
		t.Errorf("%s\nreads as %+v", file.String(), read)
	}
}

// TestSkippedTogether: if four or more properties were skipped for the same reason, the card gives the reason once.
func TestSkippedTogether(t *testing.T) {
	for n := 3; n <= 5; n++ {
		r := &Report{Mode: Visited}
		for p := range property.Property(n) {
			r.Properties = append(r.Properties, PropertyResult{Property: p, Skip: "not offered"})
		}
		var card strings.Builder
		if err := WriteCard(&card, r, style.Style{Width: 100}); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Count(card.String(), "not offered"), map[bool]int{true: 1, false: n}[n >= 4]; got != want {
			t.Errorf("%d skipped: the reason is there %d times, want %d\n%s", n, got, want, card.String())
		}
	}
}

// TestVerdict: a sampled run proves nothing, and a property that no execution put to the test is skipped, not passed.
func TestVerdict(t *testing.T) {
	found := &Found{}
	for _, c := range []struct {
		report Report
		result PropertyResult
		want   Verdict
	}{
		{Report{Mode: Sampled}, PropertyResult{Checked: 1 << 40}, Passed},
		{Report{Mode: Visited}, PropertyResult{Checked: 1}, Proved},
		{Report{Mode: Visited, Interrupted: true}, PropertyResult{Checked: 1}, Passed},
		{Report{Mode: Visited, Runs: &Runs{Whole: 1}}, PropertyResult{Checked: 1}, Proved},
		{Report{Mode: Visited, Runs: &Runs{Whole: 1, Incomplete: "a bound"}}, PropertyResult{Checked: 1}, Passed},
		{Report{Mode: Visited}, PropertyResult{Checked: 1, Undecided: 1}, Undecided},
		{Report{Mode: Sampled}, PropertyResult{Checked: 1 << 40, Undecided: 1}, Undecided},
		{Report{Mode: Recorded}, PropertyResult{Undecided: 1}, Undecided},
		{Report{Mode: Sampled}, PropertyResult{Undecided: 1, Violation: found}, Violated},
		{Report{Mode: Visited}, PropertyResult{}, Skipped},
		{Report{Mode: Sampled}, PropertyResult{}, Skipped},
		{Report{Mode: Sampled}, PropertyResult{Checked: 1, Skip: "not offered"}, Skipped},
		{Report{Mode: Visited}, PropertyResult{Checked: 9, Violation: found}, Violated},
		{Report{Mode: Recorded}, PropertyResult{Violation: found}, Violated},
	} {
		if got, _ := c.report.Verdict(&c.result); got != c.want {
			t.Errorf("%+v %+v: %s, want %s", c.report, c.result, got, c.want)
		}
	}
}

// wholeReport is a report in which every field is set.
func wholeReport() *Report {
	r := sampleReport()
	r.Kind, r.Source, r.Bounds, r.Interrupted = lock.Semaphore, "history.jsonl", "3 clients, 1 crash", true
	r.Required = property.Set(0).With(property.SurvivesRestart).With(property.Linearizable)
	r.Space = &Space{
		States: 11160, Transitions: 57439, Diameter: 41, Final: 12, Queue: 160, Bytes: 73, Reductions: []string{"symmetry", "ample steps"},
		Missed: 1e-12, Certainty: "the probability that a state was missed is below 1e-12", Cut: "the bound of memory was met",
		Operations: []Count{{"acquire", 40000}, {"verify", 17439}}, Covered: []string{"full", "held"}, NotCovered: []string{"busy"},
	}
	r.Earlier = Earlier{Again: []string{"counterexamples/no-leak.json"}, Passed: []string{"counterexamples/passed/progress.json"}, Held: 3}
	r.Views = &Views{Searches: 2, Contexts: 7, Views: 281, Parts: 50, Holders: 1, Cutoff: 2, Tried: 3}
	r.Runs = &Runs{Whole: 4990, Blocked: 10, Audited: 370, Incomplete: "only 5000 runs were allowed", NotExplored: []string{"acquires that wait with a deadline"}}
	r.At, r.Asked, r.Least, r.Server = time.Unix(1e9, 0), 2*r.Scenarios, 100, "amqp"
	r.Readings = []string{"a fence is a fencing token", "each key is a lock"}
	r.Guided = []string{"120 of 3 clients", "80 of 1 crash"}
	r.Covered = []Count{{"replies", 31}, {"pairs of commands", 1204}}
	r.Spent = []string{"clients started: 3, 210ms", "clients at work 1.2s"}
	r.Contract = &Contract{Demands: property.Set(0).With(property.Linearizable)}
	r.Properties[property.CheapAcquire].Broken = "acquire opens 3 channels"
	r.Uncontrolled = []string{"heartbeat 12 ×", "reconnect 3 ×"}
	r.Nemesis, r.Together = []string{"3.0 s cut n1 → n2, n3", "18.0 s heal"}, []string{"c1 and c2 held the lock for 0.4 s from 8.1 s on until c1 was told", "told by basic.cancel"}
	r.Left = []string{"2 tokens of 1"}
	r.Unseen = known.Findings{{Property: "no-leak", Fingerprint: "fedcba9876543210", Reason: "ticket 18"}}
	r.Wire = []Count{{"basic.ack", 12}, {"tx.select", 1}}
	r.Traffic = []Traffic{{Operation: "acquire", Calls: 120, Frames: 6.25, Back: 4.5, Bytes: 312, BytesBack: 128}}
	r.Properties[property.MutualExclusion].Undecided, r.Properties[property.MutualExclusion].Unclear = 2, "two were too large"
	r.Properties[property.CheapVerify].Violation = &Found{
		Detail: "verify took 3 round trips", Steps: 1, Least: true, Scenario: 31, Seed: 7, Errors: []string{"c1 says of verify: \"no\" (step 1)"}, Tries: histories.Tries{Shown: 2, Of: 5},
		Fingerprint: "0123456789abcdef", Known: &Known{Finding: known.Finding{Reason: "ticket 17", Owner: "ops", Expires: "2027-01-31"}},
	}
	r.Efficiency = append(r.Efficiency, EfficiencyRow{Operation: "count", Count: 2, Channels: spread(1, 2), Connections: spread(3), Budget: &Budget{RoundTrips: 9, Channels: 1, Connections: 3}})
	return r
}

// TestWholeReport compares the card, the JSON and the JUnit of a report in which every field is set with files. A new
// field of Report must be set in wholeReport.
func TestWholeReport(t *testing.T) {
	r := wholeReport()
	for v, i := reflect.ValueOf(r).Elem(), 0; i < v.NumField(); i++ {
		if f := v.Field(i); f.IsZero() && v.Type().Field(i).Name != "Kind" { // the zero value of Kind is semaphore
			t.Errorf("the report has no %s", v.Type().Field(i).Name)
		}
	}
	for name, write := range map[string]func(io.Writer) error{
		"whole-120.txt": func(w io.Writer) error { return WriteCard(w, r, style.Style{Width: 120}) },
		"whole-70.txt":  func(w io.Writer) error { return WriteCard(w, r, style.Style{Width: 70}) },
		"whole.json":    func(w io.Writer) error { return WriteJSON(w, r) },
		"whole.xml":     func(w io.Writer) error { return WriteJUnit(w, r) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		historiestest.Golden(t, name, b.String())
	}
	r.Earlier = Earlier{}
	r.Interrupted, r.Properties[property.CheapVerify].Violation, r.Properties[property.HonestVerify].Violation = false, nil, nil
	var b strings.Builder
	if err := WriteCard(&b, r, style.Style{Width: 120}); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "whole-inconclusive.txt", b.String())
}

// TestHowExecutionsWereChosen: in every mode, the first lines of the card say how executions were chosen, and on which
// server the target ran, if this is known.
func TestHowExecutionsWereChosen(t *testing.T) {
	for mode, want := range map[Mode]string{
		Sampled:  "5 executions of 3 clients sampled from seed 7 on a broker in 3 ms · 9 commands · 1 operation",
		Visited:  "every execution visited of 3 clients on a broker in 3 ms · 9 commands · 1 operation",
		Stressed: "5 executions as they happened on a broker in 3 ms · 3 clients · 9 commands · 1 operation",
		Replayed: "one execution replayed from ce.json on a broker in 3 ms · 9 commands · 1 operation",
		Recorded: "the history ce.json on a broker in 3 ms · 9 commands · 1 operation",
	} {
		r := &Report{Mode: mode, Source: "ce.json", Bounds: "3 clients", Seed: 7, Scenarios: 5, Commands: 9, Operations: 1, Broker: "a broker", Elapsed: 3 * time.Millisecond}
		if got := strings.Join(howMuch(r), " · "); got != want {
			t.Errorf("%s: %s, want %s", mode, got, want)
		}
		for _, zero := range []func(){func() { r.Broker = "" }, func() { r.Elapsed = 0 }, func() { r.Commands = 0 }, func() { r.Operations = 0 }, func() { r.Bounds = "" }} {
			zero()
		}
		if got := strings.Join(howMuch(r), " · "); strings.ContainsAny(got, "·0") || strings.Contains(got, " on ") || strings.Contains(got, " in ") || strings.Contains(got, " of ") {
			t.Errorf("%s with nothing else: %s", mode, got)
		}
	}
}
