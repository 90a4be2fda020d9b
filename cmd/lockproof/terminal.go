package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/lockproof/lockproof/histories"
)

// style is what standard output can show.
func style() histories.Style {
	fd := int(os.Stdout.Fd())
	if !term.IsTerminal(fd) {
		return histories.Style{}
	}
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 0
	}
	_, plain := os.LookupEnv("NO_COLOR")
	return histories.Style{Width: min(width, 160), Color: !plain}
}

// progress writes a line on a terminal's standard error that keeps changing, and nothing in a pipe.
type progress struct {
	on   bool
	last time.Time
}

func newProgress() *progress { return &progress{on: term.IsTerminal(int(os.Stderr.Fd()))} }

// progressEvery is how often the line changes.
const progressEvery = 100 * time.Millisecond

func (p *progress) say(format string, args ...any) {
	if !p.on || time.Since(p.last) < progressEvery {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(os.Stderr, "\r\x1b[K"+format, args...)
}

// done takes the line away.
func (p *progress) done() {
	if p.on {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
}

// tell writes a line about what is going on.
func tell(line string) { fmt.Fprintln(os.Stderr, "lockproof:", line) }
