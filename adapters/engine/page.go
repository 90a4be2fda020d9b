package engine

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/scenario"
)

// WritePage writes the card, and every execution that violates a property with porcupine's picture of
// its history, as one HTML page that needs nothing else.
func (r *Result) WritePage(w io.Writer) error {
	page := report.Page{Report: r.Report}
	for i := range r.Report.Properties {
		p := &r.Report.Properties[i]
		if t := r.Traces[p.Property]; t != nil {
			page.Executions = append(page.Executions, execution(t, p.Violation.Command, p.Violation.Reproduced()))
		}
	}
	return report.WritePage(w, &page)
}

// WritePage writes the execution, with porcupine's picture of its history, as one HTML page that
// needs nothing else.
func (r *Replayed) WritePage(w io.Writer) error {
	text := "lockproof " + Version + "\n"
	if r.Command != "" {
		text += fmt.Sprintf("repeat it: %s\n\n%s", r.Command, r.Said)
	}
	return report.WritePage(w, &report.Page{
		Title: r.Trace.Scenario.Target, Text: text, Executions: []report.Execution{execution(r.Trace, "", "")},
	})
}

// picturing bounds how long porcupine may take over one picture.
const picturing = 5 * time.Second

// execution is a trace as a page shows it. Where porcupine has nothing to show, the page does without.
func execution(t *scenario.Trace, command, again string) report.Execution {
	x := report.Execution{Trace: t, Command: command, Again: again}
	lock := 0
	if len(t.Violations) > 0 {
		lock = int(t.Violations[0].Lock)
	}
	if s, err := linear.Specify(&t.History, lock, linear.Options{}); err == nil {
		var picture bytes.Buffer
		if s.Visualize(&picture, picturing) == nil {
			x.Porcupine = picture.Bytes()
		}
	}
	return x
}
