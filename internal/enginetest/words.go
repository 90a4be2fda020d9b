package enginetest

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
)

// OfSemaphores matches words that make sense only for semaphores, such as "slot". namesOfSomeKind removes the names
// of properties, which are the same for all kinds of locks.
var (
	OfSemaphores    = regexp.MustCompile(`(?i)\b(slots?|removed|remove|full)\b`)
	namesOfSomeKind = strings.NewReplacer("no-phantom-slot", "", "contiguous-slots", "", "persistent-mutex", "")
)

// SpeaksOfMutex fails the test if the report, a diagram, a page or a counterexample about a mutex uses words of
// semaphores.
func SpeaksOfMutex(t *testing.T, res *engine.Result) {
	t.Helper()
	texts := make(map[string]string)
	for name, write := range map[string]func(io.Writer) error{
		"the card":  func(w io.Writer) error { return report.WriteCard(w, res.Report, style.Style{Width: 200}) },
		"the JUnit": func(w io.Writer) error { return report.WriteJUnit(w, res.Report) },
		"the page":  func(w io.Writer) error { return report.WritePage(w, &report.Page{Executions: pictured(res)}) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		texts[name] = b.String()
	}
	for _, ce := range res.Counterexamples("") {
		texts["the file of "+ce.Property.String()] = ce.Violation.Detail + "\n" + ce.Property.Sentence(ce.Violation.Kind) + "\n" + strings.Join(ce.Transcript, "\n")
	}
	for name, text := range texts {
		for line := range strings.Lines(namesOfSomeKind.Replace(text)) {
			if found := OfSemaphores.FindString(line); found != "" && !strings.HasPrefix(line, "<rect class=\"slot\"") && !strings.HasPrefix(line, "svg .slot") {
				t.Errorf("%s says %q of a mutex: %s", name, found, line)
			}
		}
	}
}

// pictured returns the executions of a result, without porcupine's visualisations.
func pictured(res *engine.Result) (all []report.Execution) {
	for _, t := range res.Traces {
		all = append(all, report.Execution{Trace: t})
	}
	return all
}

// Card returns what a result shows, except its duration: the summary, the JSON report and the counterexamples.
func Card(t testing.TB, res *engine.Result) string {
	t.Helper()
	res.Report.Elapsed = 0
	var b bytes.Buffer
	if err := report.WriteCard(&b, res.Report, style.Style{}); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteJSON(&b, res.Report); err != nil {
		t.Fatal(err)
	}
	for _, ce := range res.Counterexamples("") {
		data, err := ce.Encode()
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
	}
	return b.String()
}
