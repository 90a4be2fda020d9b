package engine_test

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
)

// ofSemaphores are words that say something of semaphores only. The names of properties are the same for all.
var (
	ofSemaphores    = regexp.MustCompile(`(?i)\b(slots?|removed|remove|full)\b`)
	namesOfSomeKind = strings.NewReplacer("no-phantom-slot", "", "contiguous-slots", "", "persistent-mutex", "")
)

// speaksOfMutex fails where the card, a diagram, a page or a file about a mutex has words of semaphores.
func speaksOfMutex(t *testing.T, res *engine.Result) {
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
			if found := ofSemaphores.FindString(line); found != "" && !strings.HasPrefix(line, "<rect class=\"slot\"") && !strings.HasPrefix(line, "svg .slot") {
				t.Errorf("%s says %q of a mutex: %s", name, found, line)
			}
		}
	}
}

// pictured are the executions of a result, without porcupine's pictures.
func pictured(res *engine.Result) (all []report.Execution) {
	for _, t := range res.Traces {
		all = append(all, report.Execution{Trace: t})
	}
	return all
}
