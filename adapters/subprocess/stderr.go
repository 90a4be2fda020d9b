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

// Limits of what is kept and shown of a client's standard error.
const (
	keptLines  = 4
	keptLength = 160     // maximum bytes of a line that is kept
	shownBytes = 1 << 18 // maximum bytes shown of one process; the rest is only counted
	heldBytes  = 4096    // maximum bytes of an unfinished line that are held back
)

// stderrTail handles a client's standard error. It shows the text up to a limit, and keeps the last lines for error
// messages.
type stderrTail struct {
	to    io.Writer // receives the text; nil if it is not shown
	shown int
	held  []byte // unfinished line that is held back, since a secret may continue in it

	secrets *secret.Known // secrets to hide; nil if there are none

	mu     sync.Mutex
	lines  []string
	framed bool // the last kept line belongs to a backtrace
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

// keep adds the finished line to the kept lines. It drops empty lines. Of a backtrace that follows the error message,
// it keeps only the first frame outside the language's own code.
func (c *stderrTail) keep() {
	line := c.hide(string(c.last)) // hides secrets before the line is cut
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

// goroutine is the state of reading a Go program's backtrace. Its innermost frame comes first. A frame has two lines:
// the function and, indented, its place.
type goroutine struct {
	inside bool
	kept   bool // the first function outside the runtime was kept already
	drop   bool // the function in the previous line was dropped
}

// drops reports whether to drop a line of a Go program's backtrace, since other lines say more.
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

// flush shows what is held back at the end of the output.
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

// tail returns the last lines so far, including an unfinished one.
func (c *stderrTail) tail() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) > 0 {
		c.keep()
	}
	return append([]string(nil), c.lines...)
}
