package style

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/safetext"
)

// Style describes the output medium of text.
type Style struct {
	Width int  // width in columns; 0 means 100
	Color bool // escape sequences may be used: the output is a terminal, and NO_COLOR is not set
}

// Columns is the largest width of text, in columns.
func (s Style) Columns() int {
	if s.Width <= 0 {
		return 100
	}
	return max(s.Width, minWidth)
}

// minWidth is the smallest width of a drawing, in columns. A narrower terminal breaks its lines.
const minWidth = 60

// Colour has the parameters of the escape sequence for a colour; "" means plain text.
type Colour string

// The colours and styles of text, as parameters of escape sequences.
const (
	Plain  Colour = ""
	Bold   Colour = "1"
	Dim    Colour = "2"
	Red    Colour = "1;31"
	Green  Colour = "32"
	Yellow Colour = "33"
)

// clientColours are the colours of clients in all texts.
var clientColours = [...]Colour{"36", "35", "33", "34", "32", "96", "95", "94"}

// ClientColour is the colour of a client. Clients count from 1.
func ClientColour(client int) Colour {
	if client < 1 {
		return Plain
	}
	return clientColours[(client-1)%len(clientColours)]
}

// Span is text in one colour.
type Span struct {
	Text   string
	Colour Colour
}

// Line is a sequence of spans on one line.
type Line []Span

// Of returns text in this colour.
func (c Colour) Of(text string) Span { return Span{Text: text, Colour: c} }

// Width is the number of columns of the line.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += utf8.RuneCountInString(s.Text)
	}
	return n
}

// Paint writes a line, with colours if the style has them, and without trailing blanks.
func (s Style) Paint(w *strings.Builder, l Line) {
	for len(l) > 0 && strings.TrimRight(l[len(l)-1].Text, " ") == "" {
		l = l[:len(l)-1]
	}
	for i, p := range l {
		text := Printable(p.Text)
		if i == len(l)-1 {
			text = strings.TrimRight(text, " ")
		}
		if !s.Color || p.Colour == Plain || strings.TrimSpace(text) == "" {
			w.WriteString(text)
			continue
		}
		w.WriteString("\x1b[" + string(p.Colour) + "m" + text + "\x1b[0m")
	}
	w.WriteByte('\n')
}

// Pad pads the line with blanks to a width.
func (l Line) Pad(width int) Line {
	if n := width - l.Width(); n > 0 {
		return append(l, Span{Text: strings.Repeat(" ", n)})
	}
	return l
}

// Wrap breaks text at blanks into lines of at most the given width.
func Wrap(text string, width int) []string { return Fill(strings.Fields(text), " ", width) }

// Fill puts words on lines of at most the given width, and returns at least one line. A word that is too wide is broken
// at its blanks, or after width columns if it has none.
func Fill(words []string, sep string, width int) []string {
	var lines []string
	current := ""
	for _, word := range words {
		for utf8.RuneCountInString(word) > width {
			if current != "" {
				lines, current = append(lines, current), ""
			}
			head := string([]rune(word)[:width])
			if blank := strings.LastIndexByte(word[:len(head)+1], ' '); blank > 0 && strings.TrimSpace(word[:blank]) != "" {
				head = word[:blank]
			}
			lines, word = append(lines, head), strings.TrimLeft(word[len(head):], " ")
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

// Printable makes text from outside safe to show. Paint does this as well, but escaping changes the width of a text.
// Columns are measured before Paint, so their text must be escaped earlier.
func Printable(text string) string { return safetext.Escape(text) }

// Grouped writes a number with commas between groups of three digits.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural writes a number with its noun: "1 slot", "2 slots".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ey") {
		return Grouped(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return Grouped(n) + " " + noun + "s"
}

// Beside puts words to the right of a line, from column margin on. Words that do not fit into width columns continue on
// more lines.
func Beside(l Line, words []string, colour Colour, margin, width int) []Line {
	var out []Line
	for _, part := range Fill(words, " ", width) {
		out = append(out, append(l.Pad(margin), colour.Of(part)))
		l = nil
	}
	return out
}

// List puts a separator after each item but the last. Each item becomes one word, so that wrapping does not break it.
func List(items []string) []string {
	var words []string
	for i, item := range items {
		if i < len(items)-1 {
			item += " ·"
		}
		words = append(words, Printable(item))
	}
	return words
}
