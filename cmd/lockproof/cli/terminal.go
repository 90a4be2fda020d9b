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

// widest is the maximum width of printed text in columns. Longer lines are hard to read.
const widest = 160

// outputStyle returns the style for standard output. The width is that of the terminal, or else COLUMNS, or else a
// default for logs.
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

// interactive reports whether there is a terminal on which the user can be asked.
func interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
}

// ask asks a question and reports whether the answer is yes. Any other answer counts as no. It returns an error if ctx
// ends first.
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

// tell prints a line about the progress to standard error.
func tell(line string) {
	fmt.Fprintln(guarded(os.Stderr), "lockproof:", safetext.Cut(safetext.OneLine(secret.HideCommand(line))))
}
