package subprocess

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/lockproof/lockproof/histories/secret"
)

// How much of a client's standard error is kept and shown.
const (
	keptLines  = 4
	keptLength = 160     // bytes of a line
	shownBytes = 1 << 18 // of one process; what follows is counted and dropped
	heldBytes  = 4096    // of a line that is not over
)

// stderrTail is a client's standard error: shown to the user up to a bound, its last lines kept for a
// diagnosis.
type stderrTail struct {
	to    io.Writer // takes what may be shown; nil shows nothing
	shown int
	held  []byte // of a line that is not over, and not shown yet: a secret may go on

	secrets *secret.Known // nil has none

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
		c.last = append(c.last, line[:min(len(line), heldBytes-len(c.last))]...)
		if !over {
			return len(p), nil
		}
		c.keep()
		rest = after
	}
}

// keep ends a line. Empty ones say nothing, and of a backtrace that stands below what happened the first says enough.
func (c *stderrTail) keep() {
	line := c.hide(string(c.last)) // all of it, so that no part of a secret is left
	line = strings.ToValidUTF8(line[:min(len(line), keptLength)], "?")
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
	c.held = append(c.held, p...)
	over := bytes.LastIndexByte(c.held, '\n') + 1
	if len(c.held)-over > heldBytes || c.shown > shownBytes {
		over = len(c.held)
	}
	_, _ = io.WriteString(c.to, c.hide(string(c.held[:over])))
	c.held = append(c.held[:0], c.held[over:]...)
	if c.shown > shownBytes {
		_, _ = fmt.Fprintf(c.to, "\n(more than %d bytes: no more of this client's standard error is shown)\n", shownBytes)
	}
}

// flush shows what is left when nothing more comes.
func (c *stderrTail) flush() {
	if len(c.held) > 0 {
		_, _ = io.WriteString(c.to, c.hide(string(c.held)))
		c.held = nil
	}
}

func (c *stderrTail) hide(text string) string {
	if c.secrets == nil {
		return text
	}
	return c.secrets.Hide(text)
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
