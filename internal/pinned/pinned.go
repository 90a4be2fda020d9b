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

// File is the table of one test's results.
type File struct {
	t    *testing.T
	text bytes.Buffer
}

// New returns a table without blocks.
func New(t *testing.T) *File { return &File{t: t} }

// Seen collects the results for the inputs of a block.
type Seen struct {
	at     int // index of the present input
	counts map[string]int
	rows   []string
	same   []*outcome
	rest   bytes.Buffer // text of the present input that only the digest covers
}

// outcome is a result, with the inputs that have it.
type outcome struct {
	text  string
	at    []int
	names []string
}

// Rowf adds a row below the block's line. The arguments are those of fmt.Sprintf.
func (s *Seen) Rowf(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	s.rows = append(s.rows, strings.Split(text, "\n")...)
}

// Same adds an input's name to the row for the result text. That row lists all inputs with this result. Such rows
// come after those of Rowf.
func (s *Seen) Same(name, text string) {
	i := slices.IndexFunc(s.same, func(o *outcome) bool { return o.text == text })
	if i < 0 {
		i, s.same = len(s.same), append(s.same, &outcome{text: text})
	}
	s.same[i].at, s.same[i].names = append(s.same[i].at, s.at), append(s.same[i].names, name)
}

// row returns the result and the names of its inputs. Of three or more consecutive inputs it lists only the first and
// the last.
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

// Printf adds text that only the digest covers. The text must be the same on every machine, so it must contain no
// pointers and no times.
func (s *Seen) Printf(format string, args ...any) { fmt.Fprintf(&s.rest, format, args...) }

// Write adds bytes that only the digest covers. It never fails.
func (s *Seen) Write(b []byte) (int, error) { return s.rest.Write(b) }

// Block calls run for each input, from 0 to inputs-1. It adds the block's line, with the sums over all inputs, and
// the rows below it.
func (f *File) Block(title string, inputs int, run func(i int, s *Seen)) {
	s, all, digested := Seen{counts: make(map[string]int)}, fnv.New64a(), false
	for i := range inputs {
		s.at = i
		s.rest.Reset()
		run(i, &s)
		digested = digested || s.rest.Len() > 0
		fmt.Fprintf(all, "%d ", s.rest.Len())
		_, _ = io.Copy(all, &s.rest) // neither call can fail
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

// Compare compares the table with the file at path or, with -rewrite, writes the file.
func (f *File) Compare(path string) {
	f.t.Helper()
	Text(f.t, path, f.text.String())
}
