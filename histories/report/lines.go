package report

import (
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// write prints lines.
func write(w io.Writer, lines []style.Line, s style.Style) error {
	var b strings.Builder
	for _, l := range lines {
		s.Paint(&b, l)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// repeating is a line with the command that repeats a run; no line if the command is "".
func repeating(command string) []style.Line {
	if command == "" {
		return nil
	}
	return []style.Line{{style.Dim.Of("repeat it: "), style.Plain.Of(style.Printable(command))}}
}

// warnings are highlighted lines, one or more for each warning. Empty warnings are left out.
func warnings(said []string, s style.Style) (out []style.Line) {
	for _, warning := range nonempty(said) {
		for _, text := range style.Wrap(style.Printable(warning), s.Columns()) {
			out = append(out, style.Line{style.Yellow.Of(text)})
		}
	}
	return out
}

func nonempty(items []string) (out []string) {
	for _, item := range items {
		if item != "" {
			out = append(out, item)
		}
	}
	return out
}
