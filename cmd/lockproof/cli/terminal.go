package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/style"
)

// outputStyle is what standard output can show.
func outputStyle() style.Style {
	fd := int(os.Stdout.Fd())
	if !term.IsTerminal(fd) {
		return style.Style{}
	}
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 0
	}
	_, plain := os.LookupEnv("NO_COLOR")
	return style.Style{Width: min(width, 160), Color: !plain}
}

// interactive reports whether somebody is there who can be asked.
func interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
}

// ask asks a question and reports whether the answer is yes. Whatever is not yes is no; ctx ends the waiting.
func ask(ctx context.Context, in io.Reader, out io.Writer, question string) (bool, error) {
	if _, err := fmt.Fprint(out, question); err != nil {
		return false, err
	}
	answered := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(in).ReadString('\n')
		answered <- strings.ToLower(strings.TrimSpace(answer))
	}()
	select {
	case answer := <-answered:
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
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
	text := []rune(safetext.OneLine(fmt.Sprintf(format, args...)))
	if width, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && width > 1 && len(text) >= width { // it could not be taken away
		text = append(text[:width-2], '…')
	}
	fmt.Fprint(os.Stderr, "\r\x1b[K", string(text))
}

// done takes the line away.
func (p *progress) done() {
	if p.on {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
}

// tell writes a line about what is going on.
func tell(line string) { fmt.Fprintln(os.Stderr, "lockproof:", safetext.OneLine(line)) }
