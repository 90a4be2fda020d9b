package histories

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/safetext"
)

// Style says what text is drawn on.
type Style struct {
	Width int  // columns; 0 is 100
	Color bool // escape sequences may be used: a terminal, and NO_COLOR is not set
}

func (s Style) width() int {
	if s.Width <= 0 {
		return 100
	}
	return max(s.Width, minWidth)
}

// minWidth is the narrowest that anything is drawn; a narrower terminal wraps.
const minWidth = 60

// ink is an SGR sequence's parameters; "" is plain.
type ink string

const (
	plain  ink = ""
	bold   ink = "1"
	dim    ink = "2"
	red    ink = "1;31"
	green  ink = "32"
	yellow ink = "33"
)

// clientInks tell clients apart, wherever they are named.
var clientInks = [...]ink{"36", "35", "33", "34", "32", "96", "95", "94"}

func clientInk(client int) ink {
	if client < 1 {
		return plain
	}
	return clientInks[(client-1)%len(clientInks)]
}

// span is text in one ink, and line is what stands beside each other.
type (
	span struct {
		text string
		ink  ink
	}
	line []span
)

func (l line) width() int {
	n := 0
	for _, s := range l {
		n += utf8.RuneCountInString(s.text)
	}
	return n
}

// paint writes a line in a style, without blanks at its end.
func (s Style) paint(w *strings.Builder, l line) {
	for len(l) > 0 && strings.TrimRight(l[len(l)-1].text, " ") == "" {
		l = l[:len(l)-1]
	}
	for i, p := range l {
		text := printable(p.text)
		if i == len(l)-1 {
			text = strings.TrimRight(text, " ")
		}
		if !s.Color || p.ink == plain || strings.TrimSpace(text) == "" {
			w.WriteString(text)
			continue
		}
		w.WriteString("\x1b[" + string(p.ink) + "m" + text + "\x1b[0m")
	}
	w.WriteByte('\n')
}

// pad is the line with blanks up to a width.
func (l line) pad(width int) line {
	if n := width - l.width(); n > 0 {
		return append(l, span{text: strings.Repeat(" ", n)})
	}
	return l
}

// wrap breaks text at blanks into lines of at most the given width.
func wrap(text string, width int) []string { return fill(strings.Fields(text), " ", width) }

// fill puts words on lines of at most the given width, at least one line; a word that is wider than
// that is broken.
func fill(words []string, sep string, width int) []string {
	var lines []string
	current := ""
	for _, word := range words {
		for utf8.RuneCountInString(word) > width {
			if current != "" {
				lines, current = append(lines, current), ""
			}
			head := string([]rune(word)[:width])
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case current == "":
			current = word
		case utf8.RuneCountInString(current+sep+word) <= width:
			current += sep + word
		default:
			lines, current = append(lines, current), word
		}
	}
	if current != "" || len(lines) == 0 {
		lines = append(lines, current)
	}
	return lines
}

// printable is text from outside as it may be shown. Lines are made safe again when they are painted; what is escaped
// before that is measured as it will be.
func printable(text string) string { return safetext.Escape(text) }

// grouped is a number with its digits in threes.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		return grouped(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return grouped(n) + " " + noun + "s"
}
