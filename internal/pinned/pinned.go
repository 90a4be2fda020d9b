package pinned

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
)

// File is the table of one test.
type File struct {
	t    *testing.T
	text bytes.Buffer
}

// New begins a test's table, before any block.
func New(t *testing.T) *File { return &File{t: t} }

// Seen collects what is compared of a block's inputs.
type Seen struct {
	at     int // the input
	counts map[string]int
	rows   []string
	same   []*outcome
	rest   bytes.Buffer // of one input
}

// outcome is what several inputs have in common.
type outcome struct {
	text  string
	at    []int
	names []string
}

// Rowf adds a row below the block's line.
func (s *Seen) Rowf(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	s.rows = append(s.rows, strings.Split(text, "\n")...)
}

// Same adds the name of an input to the row of all inputs with an outcome. These rows come last.
func (s *Seen) Same(name, text string) {
	i := slices.IndexFunc(s.same, func(o *outcome) bool { return o.text == text })
	if i < 0 {
		i, s.same = len(s.same), append(s.same, &outcome{text: text})
	}
	s.same[i].at, s.same[i].names = append(s.same[i].at, s.at), append(s.same[i].names, name)
}

// row is the outcome and its inputs: of three or more in a row, the first and the last.
func (o *outcome) row() string {
	out := o.text + " ←"
	for i := 0; i < len(o.at); i++ {
		first := i
		for i+1 < len(o.at) && o.at[i+1] == o.at[i]+1 {
			i++
		}
		if i < first+2 {
			i = first
			out += " " + o.names[i]
		} else {
			out += " " + o.names[first] + "…" + o.names[i]
		}
	}
	return out
}

// Count adds one to a counter on the block's line.
func (s *Seen) Count(what string) { s.Add(what, 1) }

// Add adds n to a counter on the block's line.
func (s *Seen) Add(what string, n int) { s.counts[what] += n }

// Printf adds to the text that only the digest covers. It must be the same on every machine: no pointers, no times.
func (s *Seen) Printf(format string, args ...any) { fmt.Fprintf(&s.rest, format, args...) }

// Write adds bytes to the text that only the digest covers. It never fails.
func (s *Seen) Write(b []byte) (int, error) { return s.rest.Write(b) }

// Block runs inputs from 0 on. It adds a line with the sums over all inputs, and their rows.
func (f *File) Block(title string, inputs int, run func(i int, s *Seen)) {
	s, all, digested := Seen{counts: make(map[string]int)}, fnv.New64a(), false
	for i := range inputs {
		s.at = i
		s.rest.Reset()
		run(i, &s)
		digested = digested || s.rest.Len() > 0
		fmt.Fprintf(all, "%d ", s.rest.Len())
		_, _ = io.Copy(all, &s.rest) // neither fails
	}
	fmt.Fprintf(&f.text, "%s: %d inputs", title, inputs)
	for _, what := range slices.Sorted(maps.Keys(s.counts)) {
		fmt.Fprintf(&f.text, ", %d %s", s.counts[what], what)
	}
	if digested {
		fmt.Fprintf(&f.text, "; %016x", all.Sum64())
	}
	f.text.WriteByte('\n')
	for _, row := range s.rows {
		f.text.WriteString(strings.TrimRight("  "+row, " ") + "\n")
	}
	for _, o := range s.same {
		f.text.WriteString("  " + o.row() + "\n")
	}
}

// Compare compares the table with a file, or rewrites the file.
func (f *File) Compare(path string) {
	f.t.Helper()
	Text(f.t, path, f.text.String())
}
