package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// bug is one change of the source.
type bug struct {
	number     int // in the sample, from 1: what turns it on
	area       string
	source     *source
	name       string // of the file
	function   string
	line       int
	from, to   int    // what is replaced, in bytes
	before     string // in words
	after      string
	occurrence int // if not the first with this description

	// form is what stands in its place: %[1]d is the number, %[2]s what was there. If it contains other bugs, they are in
	// what was there.
	form string
}

// description says which bug it is, wherever in the file it stands: it is the same after other lines
// have moved.
func (b *bug) description() string {
	d := fmt.Sprintf("%s %s: %s => %s", b.source.dir, b.function, b.before, b.after)
	if b.occurrence > 1 {
		d += fmt.Sprintf(" (%d)", b.occurrence)
	}
	return d
}

// rank is what the bugs of a seed are sorted by.
func (b *bug) rank(seed uint64) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, b.description()))
	return sum[:]
}

// String is the description with the place.
func (b *bug) String() string {
	return fmt.Sprintf("%s/%s:%d %s\n\t- %s\n\t+ %s", b.source.dir, b.name, b.line, b.function, b.before, b.after)
}

// switchPath is the import path of the package with the switch, in the copy.
func (m *module) switchPath() string { return m.path + "/injected" }

// inject puts bugs into the text of a file, and keeps its lines.
func (m *module) inject(text []byte, bugs []*bug) []byte {
	list := slices.Clone(bugs)
	slices.SortStableFunc(list, func(a, b *bug) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	var out bytes.Buffer
	clause := packageClause.FindIndex(text)[1]
	out.Write(text[:clause])
	fmt.Fprintf(&out, "; import %q", m.switchPath())
	render(&out, text, clause, len(text), list)
	return out.Bytes()
}

var packageClause = regexp.MustCompile(`(?m)^package \w+`)

// render writes a part of the text with the bugs in it, of which the outer ones come first.
func render(out *bytes.Buffer, text []byte, from, to int, bugs []*bug) {
	for len(bugs) > 0 {
		b := bugs[0]
		n := 1
		for n < len(bugs) && bugs[n].to <= b.to && bugs[n].from < b.to {
			n++
		}
		if b.from == b.to {
			n = 1
		}
		out.Write(text[from:b.from])
		var inner bytes.Buffer
		render(&inner, text, b.from, b.to, bugs[1:n])
		fmt.Fprintf(out, b.form, b.number, inner.String())
		from, bugs = b.to, bugs[n:]
	}
	out.Write(text[from:to])
}

// verbatim protects a piece of source in a form.
func verbatim(s string) string { return strings.ReplaceAll(s, "%", "%%") }
