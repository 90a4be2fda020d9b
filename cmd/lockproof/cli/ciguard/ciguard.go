package ciguard

import (
	"bytes"
	"io"
	"os"
	"sync"
	"unicode/utf8"
)

// Needed reports whether this process runs in a CI service that interprets printed text as commands. It checks the
// environment variables that GitHub, Azure and TeamCity set.
func Needed() bool {
	return os.Getenv("GITHUB_ACTIONS") != "" || os.Getenv("TF_BUILD") != "" || os.Getenv("TEAMCITY_VERSION") != ""
}

// Writer forwards printed text, and prevents a CI service from taking it for a command. It replaces one character of
// each such command by \u and four digits, which does not change the meaning of JSON. Several goroutines may use it if
// each writes whole lines.
type Writer struct {
	mu sync.Mutex
	to io.Writer
	state
}

// state is the writer's position in a line.
type state struct {
	inside bool // after a non-blank character of the line
	hashes int  // number of successive # up to the current position
	named  bool // letters follow ##
}

// NewWriter returns a Writer that forwards to another one, at the beginning of a line.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write forwards p with commands made harmless. It returns len(p) unless it fails.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out bytes.Buffer
	for _, b := range p {
		w.add(&out, b)
	}
	if _, err := w.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// add adds a byte, or its replacement, to out.
func (s *state) add(out *bytes.Buffer, b byte) {
	switch {
	case b == '\n' || b == '\r':
		*s = state{}
	case b == ':' && !s.inside:
		s.inside = true
		out.WriteString(`\u003a`)
		return
	case b == '[' && (s.hashes > 1 || s.named):
		*s = state{inside: true}
		out.WriteString(`\u005b`)
		return
	case b == '#':
		s.hashes, s.named, s.inside = s.hashes+1, false, true
	// Bytes of non-ASCII characters count as blanks, because some of these characters are blanks.
	case b == ' ' || b == '\t' || b == '\v' || b == '\f' || b >= utf8.RuneSelf:
		s.hashes, s.named = 0, false
	default:
		s.named = (s.hashes > 1 || s.named) && (b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z')
		s.hashes, s.inside = 0, true
	}
	out.WriteByte(b)
}

// Commands returns the writer behind w, for printing real commands to the service. If w is not a [Writer], it returns
// w.
func Commands(w io.Writer) io.Writer {
	if guarded, ok := w.(*Writer); ok {
		return guarded.to
	}
	return w
}
