package ciguard

import (
	"bytes"
	"io"
	"os"
	"sync"
	"unicode/utf8"
)

// Needed reports whether a service reads what is printed. The environment that GitHub, Azure and TeamCity give to jobs says so.
func Needed() bool {
	return os.Getenv("GITHUB_ACTIONS") != "" || os.Getenv("TF_BUILD") != "" || os.Getenv("TEAMCITY_VERSION") != ""
}

// Writer hands on printed text. It writes the character that would make the text a command as \u and four digits. A
// JSON text means the same afterwards. It may be used by several goroutines, each of which writes whole lines.
type Writer struct {
	mu sync.Mutex
	to io.Writer
	state
}

// state is where in a line the writer is.
type state struct {
	inside bool // behind something that is not blank
	hashes int  // at the end of what was written
	named  bool // letters stand behind two of them
}

// NewWriter is a writer to another, at the beginning of a line.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write hands on what may be printed. It takes all or fails.
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

// add adds a byte, or what stands for it.
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

// Commands is the writer behind w, for intended commands to the service: w itself if that is no [Writer].
func Commands(w io.Writer) io.Writer {
	if guarded, ok := w.(*Writer); ok {
		return guarded.to
	}
	return w
}
