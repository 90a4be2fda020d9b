package subprocess

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/lockproof/lockproof/histories/secret"
)

// How much of a client's standard error is kept and shown.
const (
	keptLines  = 4
	keptLength = 160     // bytes of a line
	shownBytes = 1 << 18 // of one process; the rest is counted and dropped
	heldBytes  = 4096    // of an unfinished line
)

// stderrTail handles a client's standard error: it shows the text up to a bound, and keeps the last lines for a diagnosis.
type stderrTail struct {
	to    io.Writer // receives what may be shown; nil shows nothing
	shown int
	held  []byte // unfinished line that is not shown yet, as a secret may continue in it

	secrets *secret.Known // nil is none

	mu     sync.Mutex
	lines  []string
	framed bool // the last line that was kept belongs to a backtrace
	stack  goroutine
	last   []byte // the unfinished line
}

// Write handles text that the client has printed.
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

// keep ends a line. It drops empty lines. Of a backtrace that follows its cause, it keeps the first frame outside the
// language's own code.
func (c *stderrTail) keep() {
	line := c.hide(string(c.last)) // the whole line, so that no part of a secret is left
	line = strings.ToValidUTF8(line[:min(len(line), keptLength)], "?")
	c.last = c.last[:0]
	s := strings.TrimSpace(line)
	if s == "" {
		return
	}
	framed := isFrame(line)
	if framed && isRuntimes(s) || c.stack.drops(line) {
		return
	}
	if !framed || !c.framed {
		c.lines = append(c.lines, s)
		c.lines = c.lines[max(0, len(c.lines)-keptLines):]
	}
	c.framed = framed
}

// isFrame reports whether a line belongs to a backtrace with the innermost frame first, as Ruby, Java and Node print them.
func isFrame(line string) bool {
	s := strings.TrimLeft(line, " \t")
	return len(s) < len(line) && (strings.HasPrefix(s, "from ") || strings.HasPrefix(s, "at ") || strings.HasPrefix(s, "... "))
}

// isRuntimes reports whether a frame is in a language's own code, which says less than the first frame outside it.
func isRuntimes(frame string) bool {
	return slices.ContainsFunc([]string{"node:", "at java.base/", "at jdk.", "<internal:"}, func(part string) bool {
		return strings.Contains(frame, part)
	})
}

// goroutine is the position of a reader in the backtrace of a Go program, whose innermost frame comes first: a line for the
// function, and an indented line for its place.
type goroutine struct {
	inside bool
	kept   bool // the first function outside the runtime was kept
	drop   bool // the function of the last line was dropped
}

// drops reports whether a line of a Go program's backtrace says less than a line that is kept.
func (g *goroutine) drops(line string) bool {
	switch {
	case strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:"):
		g.inside = true
		return true
	case !g.inside:
		return false
	case strings.HasPrefix(line, "\t"):
		return g.drop
	case strings.HasSuffix(line, ")") || strings.HasPrefix(line, "created by "):
		g.drop = g.kept || strings.HasPrefix(line, "panic(") || strings.HasPrefix(line, "runtime.") || strings.HasPrefix(line, "internal/runtime/")
		g.kept = g.kept || !g.drop
		return g.drop
	}
	g.inside = false
	return false
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

// flush shows what is left at the end of the output.
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

// tail is the last lines so far, including the unfinished one.
func (c *stderrTail) tail() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) > 0 {
		c.keep()
	}
	return append([]string(nil), c.lines...)
}
