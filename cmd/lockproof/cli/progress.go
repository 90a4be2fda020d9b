package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/lockproof/lockproof/histories/safetext"
)

// The intervals of progress messages. On a terminal each message overwrites the last one; otherwise each is a new line.
const (
	progressEvery     = 100 * time.Millisecond
	progressEveryLine = 10 * time.Second
)

// progress prints the progress of a run to standard error, at most once per interval.
type progress struct {
	out   io.Writer
	now   func() time.Time
	width func() int // width of the terminal; nil if there is none
	limit time.Duration
	began time.Time
	last  time.Time
}

func newProgress() *progress {
	p := &progress{out: guarded(os.Stderr), now: time.Now}
	if fd := int(os.Stderr.Fd()); term.IsTerminal(fd) {
		p.width = func() int {
			width, _, err := term.GetSize(fd)
			if err != nil {
				return 0
			}
			return width
		}
	}
	p.began = p.now()
	p.last = p.began
	return p
}

// within sets the time limit of the run; 0 means no limit.
func (p *progress) within(limit time.Duration) *progress {
	p.limit = limit
	return p
}

// say prints a progress message if the interval is over.
func (p *progress) say(format string, args ...any) { p.part(0, 0, format, args...) }

// part prints a progress message with the remaining time, if the interval is over. done is the number of completed
// parts of the run; of is the number of all its parts. Both are 0 if they are unknown.
func (p *progress) part(done, of int, format string, args ...any) {
	every := progressEvery
	if p.width == nil {
		every = progressEveryLine
	}
	now := p.now()
	if now.Sub(p.last) < every {
		return
	}
	p.last = now
	text := safetext.OneLine(fmt.Sprintf(format, args...) + p.left(now.Sub(p.began), done, of))
	if p.width == nil {
		fmt.Fprintln(p.out, "lockproof:", text)
		return
	}
	shown := []rune(text)
	if width := p.width(); width > 1 && len(shown) >= width { // a line that wraps could not be overwritten
		shown = append(shown[:width-2], '…')
	}
	fmt.Fprint(p.out, "\r\x1b[K", string(shown))
}

// left describes the remaining time, estimated from the rate so far, and at most until the run's time limit.
func (p *progress) left(took time.Duration, done, of int) string {
	const soon = time.Second // before one second has passed, the rate is too uncertain
	if took < soon {
		return ""
	}
	rest := p.limit - took
	about := "at most "
	if done > 0 && of > 0 {
		if rate := time.Duration(float64(took) / float64(done) * float64(max(of-done, 0))); p.limit == 0 || rate < rest {
			rest, about = rate, "about "
		}
	} else if p.limit == 0 {
		return ""
	}
	return ", " + about + max(rest, 0).Round(time.Second).String() + " left"
}

// done clears the line of progress on a terminal.
func (p *progress) done() {
	if p.width != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
