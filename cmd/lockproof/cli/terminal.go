package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/histories/style"
)

// widest is the widest that anything is printed: longer lines are not read any more.
const widest = 160

// outputStyle is what standard output can show. A terminal says how wide it is; elsewhere COLUMNS does, and without it there
// are as many as a log is read in.
func outputStyle() style.Style {
	fd := int(os.Stdout.Fd())
	if !term.IsTerminal(fd) {
		width, err := strconv.Atoi(os.Getenv("COLUMNS"))
		if err != nil {
			width = 0
		}
		return style.Style{Width: min(width, widest)}
	}
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 0
	}
	_, plain := os.LookupEnv("NO_COLOR")
	return style.Style{Width: min(width, widest), Color: !plain}
}

// interactive reports whether a user is there who can be asked.
func interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
}

// ask asks a question and reports whether the answer is yes. Any other answer is no; ctx ends the waiting.
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

// tell writes a line about what is going on.
func tell(line string) {
	fmt.Fprintln(guarded(os.Stderr), "lockproof:", safetext.Cut(safetext.OneLine(secret.HideCommand(line))))
}
