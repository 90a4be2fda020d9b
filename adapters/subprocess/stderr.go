package subprocess

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// How much of a client's standard error is kept and shown.
const (
	keptLines  = 4
	keptLength = 160     // bytes of a line
	shownBytes = 1 << 18 // of one process; what follows is counted and dropped
)

// stderrTail is a client's standard error: shown to the user up to a bound, its last lines kept for a
// diagnosis.
type stderrTail struct {
	to    io.Writer // takes what may be shown; nil shows nothing
	shown int

	mu     sync.Mutex
	lines  []string
	framed bool   // the last line that said something is a backtrace's
	last   []byte // of a line that is not over
}

// Write takes in what was printed.
func (c *stderrTail) Write(p []byte) (int, error) {
	c.show(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := p
	for {
		line, after, over := bytes.Cut(rest, []byte("\n"))
		c.last = append(c.last, line[:min(len(line), keptLength-len(c.last))]...)
		if !over {
			return len(p), nil
		}
		c.keep()
		rest = after
	}
}

// keep ends a line. Empty ones say nothing, and of a backtrace that stands below what happened the first says enough.
func (c *stderrTail) keep() {
	line := strings.ToValidUTF8(string(c.last), "?")
	c.last = c.last[:0]
	s := strings.TrimSpace(line)
	if s == "" {
		return
	}
	framed := isFrame(line)
	if !framed || !c.framed {
		c.lines = append(c.lines, s)
		c.lines = c.lines[max(0, len(c.lines)-keptLines):]
	}
	c.framed = framed
}

// isFrame reports whether a line is of a backtrace that goes outwards, as Ruby, Java and Node print them.
func isFrame(line string) bool {
	s := strings.TrimLeft(line, " \t")
	return len(s) < len(line) && (strings.HasPrefix(s, "from ") || strings.HasPrefix(s, "at ") || strings.HasPrefix(s, "... "))
}

func (c *stderrTail) show(p []byte) {
	if c.to == nil || c.shown > shownBytes {
		return
	}
	c.shown += len(p)
	_, _ = c.to.Write(p)
	if c.shown > shownBytes {
		_, _ = fmt.Fprintf(c.to, "\n(more than %d bytes: no more of this client's standard error is shown)\n", shownBytes)
	}
}

// tail is the last lines so far, the one that is not over among them.
func (c *stderrTail) tail() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) > 0 {
		c.keep()
	}
	return append([]string(nil), c.lines...)
}
