package ciguard

import (
	"bytes"
	"io"
	"os"
	"sync"
	"unicode/utf8"
)

// Needed reports whether a service interprets printed text, according to the environment variables that GitHub, Azure and
// TeamCity set for jobs.
func Needed() bool {
	return os.Getenv("GITHUB_ACTIONS") != "" || os.Getenv("TF_BUILD") != "" || os.Getenv("TEAMCITY_VERSION") != ""
}

// Writer passes printed text on. It writes the character that would make the text a command as \u and four digits, which
// leaves the meaning of JSON unchanged. Several goroutines may use it, if each writes whole lines.
type Writer struct {
	mu sync.Mutex
	to io.Writer
	state
}

// state is the writer's position in a line.
type state struct {
	inside bool // after a character that is not blank
	hashes int  // number of # at the end of what was written
	named  bool // letters follow two of them
}

// NewWriter is a writer to another, at the beginning of a line.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write writes p with commands made harmless. It writes everything or fails.
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

// add adds a byte, or its replacement.
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
	case b == ' ' || b == '\t' || b == '\v' || b == '\f' || b >= utf8.RuneSelf: // blanks have many forms
		s.hashes, s.named = 0, false
	default:
		s.named = (s.hashes > 1 || s.named) && (b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z')
		s.hashes, s.inside = 0, true
	}
	out.WriteByte(b)
}

// Commands is the writer behind w, for intended commands to the service. If w is not a [Writer], it is w itself.
func Commands(w io.Writer) io.Writer {
	if guarded, ok := w.(*Writer); ok {
		return guarded.to
	}
	return w
}
