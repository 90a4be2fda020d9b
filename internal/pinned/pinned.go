package pinned

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// File is the lines of one test.
type File struct {
	t      *testing.T
	blocks []block
}

// block is a number of inputs of one kind.
type block struct {
	title string
	line  string
	run   func(i int, s *Seen)
}

// New begins the lines of a test, before any block.
func New(t *testing.T) *File { return &File{t: t} }

// Seen is what was seen of one input.
type Seen struct {
	text   bytes.Buffer
	counts map[string]int // of the block
}

// Printf adds to the output of an input. The text must be the same on every machine: no pointers, no times.
func (s *Seen) Printf(format string, args ...any) { fmt.Fprintf(&s.text, format, args...) }

// Write adds bytes to what was seen. It never fails.
func (s *Seen) Write(b []byte) (int, error) { return s.text.Write(b) }

// Count adds one to a counter on the block's line.
func (s *Seen) Count(what string) { s.counts[what]++ }

// Block runs inputs from 0 on: run must produce the same output for an input at any time.
func (f *File) Block(title string, inputs int, run func(i int, s *Seen)) {
	seen := Seen{counts: make(map[string]int)}
	all, short := fnv.New64a(), make([]byte, inputs)
	for i := range inputs {
		seen.text.Reset()
		run(i, &seen)
		one := fnv.New64a()
		one.Write(seen.text.Bytes())
		short[i] = digits[one.Sum64()>>58]
		fmt.Fprintf(all, "%x ", one.Sum64())
	}
	var line strings.Builder
	fmt.Fprintf(&line, "%s: %d inputs", title, inputs)
	for _, what := range slices.Sorted(maps.Keys(seen.counts)) {
		fmt.Fprintf(&line, ", %d %s", seen.counts[what], what)
	}
	fmt.Fprintf(&line, "; %016x %s", all.Sum64(), short)
	f.blocks = append(f.blocks, block{title, line.String(), run})
}

// digits are the characters that stand for an input: six bits of its digest.
const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"

// Compare compares all blocks with a file, or rewrites the file. In the first block that differs, it shows the first
// such input.
func (f *File) Compare(path string, rewrite bool) {
	f.t.Helper()
	if rewrite {
		if err := os.WriteFile(path, f.text(), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(kept), "\n"), "\n")
	for i, b := range f.blocks {
		was := ""
		if i < len(lines) {
			was = lines[i]
		}
		if was != b.line {
			f.t.Fatalf("%s:%d: got\n%s\nwant\n%s\n%s\n(go test -rewrite takes it as it is)", path, i+1, b.line, was, b.shown(was))
		}
	}
	if len(lines) != len(f.blocks) {
		f.t.Fatalf("%s: got %d lines, want %d", path, len(f.blocks), len(lines))
	}
}

func (f *File) text() []byte {
	var out bytes.Buffer
	for _, b := range f.blocks {
		out.WriteString(b.line + "\n")
	}
	return out.Bytes()
}

// most is how much is shown of an input, in bytes.
const most = 4000

// shown is what is seen of the first input that differs from a line kept.
func (b *block) shown(was string) string {
	now, before := b.line[strings.LastIndexByte(b.line, ' ')+1:], was[strings.LastIndexByte(was, ' ')+1:]
	for i := range min(len(now), len(before)) {
		if now[i] != before[i] {
			seen := Seen{counts: make(map[string]int)}
			b.run(i, &seen)
			text := seen.text.Bytes()
			return fmt.Sprintf("%s: input %d is the first that differs (but for one of 64 that go unnoticed); of it is seen now\n%q", b.title, i, text[:min(most, len(text))])
		}
	}
	return b.title + ": no single input can be told"
}
