package safetext

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Escape makes a text safe to show in one line. A safe text is unchanged, so escaping twice is harmless.
func Escape(text string) string {
	if i := unsafeAt(text, ""); i < len(text) {
		return string(appendEscaped([]byte(text[:i]), text[i:], ""))
	}
	return text
}

// OneLine makes a text safe to show, and replaces each sequence of blanks and line ends by one blank.
func OneLine(text string) string { return Escape(strings.Join(strings.Fields(text), " ")) }

// JSON replaces unsafe characters in a JSON text by \u and four digits. They occur only in strings, where JSON allows
// such escapes, so the meaning is the same.
func JSON(data []byte) []byte {
	text := string(data)
	if unsafeAt(text, blanks) == len(text) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for _, r := range text {
		switch {
		case safe(r, blanks):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// NewWriter returns a writer that makes text safe and passes it on as it arrives. It keeps line ends and tabs.
func NewWriter(to io.Writer) io.Writer { return &writer{to: to} }

// writer writes safe text. It holds back an incomplete character or line end until the following bytes arrive.
type writer struct {
	to   io.Writer
	held []byte
}

// blanks are the control characters that a document of several lines needs.
const blanks = "\n\t"

// Write makes the text safe and passes it on. It accepts either all of p or nothing.
func (w *writer) Write(p []byte) (int, error) {
	text := string(w.held) + string(p)
	whole := len(text) - incomplete(text)
	w.held = append(w.held[:0], text[whole:]...)
	if _, err := w.to.Write(appendEscaped(nil, strings.ReplaceAll(text[:whole], "\r\n", "\n"), blanks)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// incomplete is the number of bytes at the end of a text that cannot be judged before the following bytes arrive, such
// as half a character.
func incomplete(text string) int {
	if strings.HasSuffix(text, "\r") {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRuneInString(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// safe reports whether a character is visible, or is contained in others.
func safe(r rune, others string) bool {
	return strconv.IsGraphic(r) || strings.ContainsRune(others, r)
}

// unsafeAt is the index of the first unsafe character, or the text's length.
func unsafeAt(text, others string) int {
	for i, r := range text {
		if !safe(r, others) || r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return len(text)
}

// appendEscaped appends text, with its unsafe characters escaped. The characters in others are safe.
func appendEscaped(out []byte, text, others string) []byte {
	for len(text) > 0 {
		n := unsafeAt(text, others)
		out, text = append(out, text[:n]...), text[n:]
		if text == "" {
			break
		}
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError {
			out = fmt.Appendf(out, `\x%02x`, text[0])
		} else {
			quoted := strconv.QuoteRuneToGraphic(r)
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		text = text[size:]
	}
	return out
}

// The length, in characters, of the longest word and the longest text from outside that are shown without being cut.
const (
	longestWord = 400
	longestText = 4000
)

// Cut shortens a text for an error message. A word or text that is too long keeps its beginning and its end, with its
// length in between.
func Cut(text string) string {
	if len(text) <= longestWord {
		return text
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		words[i] = cut(word, longestWord)
	}
	return cut(strings.Join(words, " "), longestText)
}

// cut shortens a text of more than most characters. It keeps the beginning, the end and the length.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return fmt.Sprintf("%s…(%d characters)…%s", string(runes[:most/4]), len(runes), string(runes[len(runes)-most/8:]))
}
