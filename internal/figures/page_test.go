//go:build unix

package figures

import (
	"os"
	"strings"
	"testing"
)

const pageFile = "README.md"

const introduction = "# How fast is lockproof?\n\n" +
	"Ratios travel, figures do not: each figure here is against something else that was measured in the same run on the same\n" +
	"machine, in turn, and is the median of three such ratios where it does not say once. `make figures` measures all of\n" +
	"them again and writes this page; each also says how to measure the like by itself. What takes one core is measured by\n" +
	"the processor's time. The page was measured on two cores that are shared with others, and were busy.\n\n" +
	"Of the model checkers, Spin alone stands beside the search. Its model of the same protocol, with the same states, is\n" +
	"[`semaphore.pml`](../../testdata/promela/semaphore.pml). There is no such model for TLC or Stateright yet.\n"

// page is the page of figures: sections by title.
type page struct{ sections map[string]string }

func readPage(t *testing.T) *page {
	p := &page{make(map[string]string)}
	text, err := os.ReadFile(pageFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		p.sections[title] = strings.TrimSpace(body)
	}
	return p
}

// put stores a figure's table in its section.
func (p *page) put(f *figure, table string) {
	cores := f.cores
	if f.once {
		cores += ", once"
	}
	p.sections[f.title] = wrap(f.about) + "\n\n" + table + "\nMeasured by " + f.how + "; " + cores + "."
}

// write writes the page to its file. Figures that were not measured now keep their earlier tables.
func (p *page) write(t *testing.T) {
	var b strings.Builder
	b.WriteString(introduction)
	for _, f := range figures {
		if body := p.sections[f.title]; body != "" {
			b.WriteString("\n## " + f.title + "\n\n" + body + "\n")
		}
	}
	if err := os.WriteFile(pageFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wrap breaks a text into lines of at most 118 columns.
func wrap(text string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > 118:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
