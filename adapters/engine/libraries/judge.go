package libraries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/engine/stock"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
)

// Config says how each library is judged.
type Config struct {
	Folder     string // the catalogue's folder, in which adapters run
	Seed       uint64
	Executions int           // number for each library; 0 means [gated.DefaultScenarios]
	Time       time.Duration // maximum time for each library; 0 means no limit
	Stderr     io.Writer     // receives the adapters' standard error
	// Found is called with each violation. It may be nil.
	Found func(*Library, *histories.Counterexample)
	// Stock is the number of rounds in which each finding is repeated on stock servers; 0 means that none is repeated.
	Stock int
}

// Row is the result of judging a library.
type Row struct {
	Library *Library
	Report  *report.Report // nil if the library could not be judged
	Err     error          // why the library could not be judged
	Skipped string         // why the library was skipped, for example "not installed: ..."; "" if it was not
	// Stock are the results of repeating the findings on stock servers; nil unless that was requested.
	Stock []Stock
}

// Stock is the result of repeating a finding on stock servers.
type Stock struct {
	Property property.Property
	Result   stock.Result
	Err      error // why the finding could not be repeated
}

// Judge runs and judges a library. A library that is not installed is skipped.
func (c *Config) Judge(ctx context.Context, l *Library) Row {
	if missing := l.Missing(c.Folder); missing != "" {
		return Row{Library: l, Skipped: missing}
	}
	on, err := gated.ServerOf(l.Server, l.Servers)
	if err != nil {
		return Row{Library: l, Err: err}
	}
	found := make(map[property.Property]*histories.Counterexample)
	res, err := gated.Prove(ctx, gated.Config{
		Lock: gated.Lock{
			Starter: c.starter(l), Exec: l.Exec, Name: l.Title(), Kind: l.Kind(),
			On: on,
		},
		Sampling: engine.Sampling{Seed: cmp.Or(c.Seed, 1), Scenarios: c.Executions, Time: c.Time},
		Found: func(ce *histories.Counterexample) {
			found[ce.Property] = ce
			if c.Found != nil {
				c.Found(l, ce)
			}
		},
	})
	if res == nil {
		return Row{Library: l, Err: err}
	}
	row := Row{Library: l, Report: res.Report, Err: err}
	if c.Stock > 0 {
		row.Stock = c.repeat(ctx, l, found)
	}
	return row
}

// starter returns what starts a library's adapter.
func (c *Config) starter(l *Library) *subprocess.Starter {
	return &subprocess.Starter{Command: l.Exec, Dir: c.Folder, Stderr: c.Stderr}
}

// repeat repeats the findings on stock servers, in the order of the report. It skips findings that stock servers cannot
// repeat.
func (c *Config) repeat(ctx context.Context, l *Library, found map[property.Property]*histories.Counterexample) (all []Stock) {
	for _, p := range slices.Sorted(maps.Keys(found)) {
		if !stock.Repeatable.Has(p) || ctx.Err() != nil {
			continue
		}
		res, err := stock.Run(ctx, stock.Config{Starter: c.starter(l), Finding: found[p], Rounds: c.Stock, Time: c.Time})
		all = append(all, Stock{Property: p, Result: res, Err: err})
	}
	return all
}

// violated returns the violated properties in part, for example in the safety properties, without suspected ones. words
// lists these properties with the number of steps of each execution, and also names the suspected ones.
func (r *Row) violated(part property.Set) (found property.Set, words []string) {
	for i := range r.Report.Properties {
		p := &r.Report.Properties[i]
		if p.Own != nil || !part.Has(p.Property) || p.Violation == nil {
			continue
		}
		if p.Violation.Suspected {
			words = append(words, p.Name()+" suspected")
			continue
		}
		found = found.With(p.Property)
		words = append(words, fmt.Sprintf("%s (%d steps)", p.Name(), p.Violation.Steps))
	}
	return found, words
}

// Unexpected returns the violated safety and recovery properties for which the catalogue lists no violation.
func (r *Row) Unexpected() property.Set {
	if r.Report == nil {
		return 0
	}
	found, _ := r.violated(property.Safety | property.Recovery)
	return found &^ r.Library.known()
}

// Missed returns the properties that this run did not violate, although the catalogue lists a violation.
func (r *Row) Missed() property.Set {
	if r.Report == nil {
		return 0
	}
	found, _ := r.violated(property.Safety | property.Recovery)
	return r.Library.known() &^ found
}

// broken names the promises that the library breaks.
func (r *Row) broken() (names []string) {
	for i := range r.Report.Properties {
		p := &r.Report.Properties[i]
		if verdict, _ := r.Report.Verdict(p); verdict == report.Broken || property.Promises.Has(p.Property) && verdict == report.Violated {
			names = append(names, p.Name())
		}
	}
	return names
}

// columns are the headings of the table.
var columns = []string{"library", "server", "is it safe?", "does it recover?", "promises broken", "executions", "reported as"}

// cells returns the text of each column in a row.
func (r *Row) cells() []string {
	l := r.Library
	reports := strings.Join(l.reports(), ", ")
	switch {
	case r.Skipped != "":
		return []string{l.Title(), l.On(), "skipped", "", "", "", reports}
	case r.Report == nil:
		return []string{l.Title(), l.On(), "not judged", "", "", "", reports}
	}
	safety, recovery := "yes, in all that was judged", "yes, in all that was judged"
	if _, words := r.violated(property.Safety); len(words) > 0 {
		safety = "no: " + strings.Join(words, ", ")
	}
	if _, words := r.violated(property.Recovery); len(words) > 0 {
		recovery = "no: " + strings.Join(words, ", ")
	}
	return []string{l.Title(), l.On(), safety, recovery, strings.Join(r.broken(), ", "), fmt.Sprint(r.Report.Scenarios), reports}
}

// WriteTable writes the rows as text for a terminal.
func WriteTable(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for i := range rows {
		fmt.Fprintln(t, strings.Join(rows[i].cells(), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return writeNotes(w, rows, "")
}

// WriteMarkdown writes the rows as a Markdown table.
func WriteMarkdown(w io.Writer, rows []Row) error {
	escape := strings.NewReplacer("|", `\|`, "<", "&lt;")
	line := func(cells []string) error {
		for i := range cells {
			cells[i] = escape.Replace(cells[i])
		}
		_, err := fmt.Fprintln(w, "| "+strings.Join(cells, " | ")+" |")
		return err
	}
	errs := []error{line(append([]string(nil), columns...)), line(strings.Fields(strings.Repeat("--- ", len(columns))))}
	for i := range rows {
		errs = append(errs, line(rows[i].cells()))
	}
	return errors.Join(append(errs, writeNotes(w, rows, "- "))...)
}

// writeNotes writes what does not fit into the table: the known findings, and why a library was not judged.
func writeNotes(w io.Writer, rows []Row, bullet string) (err error) {
	note := func(r *Row, text string) {
		_, wrong := fmt.Fprintf(w, "\n%s%s: %s\n", bullet, r.Library.Title(), text)
		err = errors.Join(err, wrong)
	}
	for i := range rows {
		r := &rows[i]
		if r.Report == nil {
			note(r, cmp.Or(r.Skipped, errorText(r.Err)))
			continue
		}
		for k := range r.Library.Known {
			note(r, r.Library.Known[k].String())
		}
		for _, again := range r.Stock {
			note(r, again.String())
		}
		if missed := r.Missed(); missed != 0 {
			note(r, strings.Join(missed.Names(), ", ")+" was not found this time")
		}
	}
	return err
}

// errorText is the text of an error.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// String says how often the finding showed again on stock servers, or why it could not be repeated.
func (s Stock) String() string {
	if s.Err != nil {
		return fmt.Sprintf("%v again: %v", s.Property, s.Err)
	}
	return fmt.Sprintf("%v again: %v", s.Property, s.Result)
}
