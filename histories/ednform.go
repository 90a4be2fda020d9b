package histories

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// This package has its own reader of EDN, since there is no maintained one for Go. A Jepsen history needs only the
// structure of EDN. Tags, exceptions with stack traces, and Clojure's special ways of printing mean nothing for a lock,
// so they are read and dropped.

// form is one value of EDN, such as a map or a number.
type form struct {
	kind   formKind
	text   string // text of any form but a collection or integer; a keyword has no colon
	number int64  // value, if it is an integer
	items  []form // items of a collection; in a map, keys and values alternate
}

type formKind uint8

const (
	symbolForm formKind = iota // a symbol, or nil, true or false
	keywordForm
	integerForm
	numberForm // any other number: a fraction, or an integer of more than 64 bits
	textForm
	listForm // a list, a vector or a set
	mapForm
)

// get is a map's value for a keyword; nil if there is none.
func (f *form) get(keyword string) *form {
	for i := 0; i < len(f.items); i += 2 {
		if k := &f.items[i]; k.kind == keywordForm && k.text == keyword {
			return &f.items[i+1]
		}
	}
	return nil
}

func (f *form) is(symbol string) bool { return f.kind == symbolForm && f.text == symbol }

// String describes the form for errors.
func (f *form) String() string {
	switch f.kind {
	case keywordForm:
		return ":" + f.text
	case integerForm:
		return strconv.FormatInt(f.number, 10)
	case textForm:
		return strconv.Quote(f.text)
	case listForm:
		return "a list"
	case mapForm:
		return "a map"
	}
	return f.text
}

// The bounds of one form. They keep a file from exhausting memory.
const (
	maxEDNDepth = 64
	maxForm     = 4 << 20 // bytes
)

// formScanner reads EDN forms one after another. After the first error, everything that it reads is empty.
type formScanner struct {
	in      io.Reader
	buf     []byte
	at, end int // range of buf that was read from in and not used yet
	line    int
	room    int // number of bytes that the current form may still have
	err     error
	// text is the current token. known has the words read so far, to reuse their strings.
	text  []byte
	known map[string]string
	// event has the items of the outermost form. They are valid until the next form is read.
	event []form
}

func newFormScanner(in io.Reader) formScanner {
	return formScanner{in: in, buf: make([]byte, 1<<16), line: 1, known: make(map[string]string)}
}

// peek is the next character. It is 0 at the end of the input or after an error.
func (s *formScanner) peek() byte {
	if s.at == s.end && !s.fill() {
		return 0
	}
	if s.buf[s.at] == 0 { // not the end, although the zero says so
		s.stop(wrong("", "a zero byte", "text: a crash of the machine may have left zeros in the file"))
		return 0
	}
	return s.buf[s.at]
}

// fill reads more input into the buffer, and reports whether there was any.
func (s *formScanner) fill() bool {
	if s.room <= 0 {
		s.stop(wrong("", "a value of more than 4 MB", "an event"))
	}
	s.end = copy(s.buf, s.buf[s.at:s.end])
	s.at = 0
	for s.err == nil {
		n, err := s.in.Read(s.buf[s.end:])
		s.end, s.room = s.end+n, s.room-n
		if n > 0 {
			return true
		}
		if err == io.EOF {
			return false
		}
		if err != nil {
			s.stop(err)
		}
	}
	return false
}

// peeks reports whether these two characters come next.
func (s *formScanner) peeks(two string) bool {
	return (s.end-s.at >= 2 || s.fill()) && s.end-s.at >= 2 && string(s.buf[s.at:s.at+2]) == two
}

// take skips the next character.
func (s *formScanner) take() {
	if s.at == s.end {
		return
	}
	if s.buf[s.at] == '\n' {
		s.line++
	}
	s.at++
}

func (s *formScanner) stop(err error) {
	if s.err == nil {
		s.err, s.at, s.end = err, 0, 0
	}
}

// fail stops the scan with an error about the next character.
func (s *formScanner) fail(expected string) {
	found := "the end of the file"
	if c := s.peek(); c != 0 {
		found = string(rune(c))
	}
	s.stop(wrong("", found, "%s", expected))
}

// blank skips blanks, comments and discarded forms (#_), and returns the next character.
func (s *formScanner) blank(depth int) byte {
	for {
		switch c := s.peek(); {
		case c == ' ' || c == ',' || c >= '\t' && c <= '\r':
			s.take()
		case c == ';':
			for c := s.peek(); c != '\n' && c != 0; c = s.peek() {
				s.take()
			}
		case c == '#' && s.peeks("#_"):
			s.take()
			s.take()
			s.form(depth + 1)
		default:
			return c
		}
		if depth == 0 {
			s.room = maxForm // blanks between events do not count for an event
		}
	}
}

// form reads the next form.
func (s *formScanner) form(depth int) form {
	if depth > maxEDNDepth {
		s.stop(wrong("", "values nested more than "+strconv.Itoa(maxEDNDepth)+" deep", "an event"))
		return form{}
	}
	switch s.blank(depth) {
	case '{':
		f := s.collection(mapForm, '}', depth)
		if len(f.items)%2 != 0 {
			s.stop(wrong("", "a key without a value", "a map"))
			return form{}
		}
		return f
	case '[':
		return s.collection(listForm, ']', depth)
	case '(':
		return s.collection(listForm, ')', depth)
	case '"':
		return s.quoted()
	case '#', '^':
		return s.tagged(depth)
	case 0, '}', ']', ')':
		s.fail("a value")
		return form{}
	}
	return s.token()
}

// collection reads forms up to the closing character.
func (s *formScanner) collection(kind formKind, closing byte, depth int) form {
	f := form{kind: kind}
	if depth == 0 {
		f.items = s.event[:0]
		defer func() { s.event = f.items }()
	}
	s.take()
	for s.blank(depth+1) != closing {
		if s.err != nil {
			return form{}
		}
		f.items = append(f.items, s.form(depth+1))
	}
	s.take()
	return f
}

// tagged reads a tag or metadata, drops it, and returns the form after it. Jepsen prints records as tagged maps.
func (s *formScanner) tagged(depth int) form {
	switch {
	case s.peeks("##"), s.peeks("#'"): // for example ##NaN or #'var
		return s.token()
	case s.peeks("#{"):
		s.take()
		return s.collection(listForm, '}', depth)
	case s.peeks(`#"`): // a regular expression
		s.take()
		return s.quoted()
	case s.peek() == '^':
		s.take()
		s.form(depth + 1)
	default:
		s.take()
		s.token()
	}
	return s.form(depth + 1)
}

// quoted reads a string.
func (s *formScanner) quoted() form {
	s.text = s.text[:0]
	s.take()
	for {
		c := s.peek()
		switch c {
		case 0:
			s.fail("a closing quote")
			return form{}
		case '"':
			s.take()
			return form{kind: textForm, text: s.interned(s.text)}
		case '\\':
			s.take()
			c = unescaped(s.peek())
		}
		s.take()
		s.text = append(s.text, c)
	}
}

func unescaped(c byte) byte {
	if i := strings.IndexByte("ntrbf", c); i >= 0 {
		return "\n\t\r\b\f"[i]
	}
	return c
}

// token reads a token: a keyword, a number, a symbol, or a character.
func (s *formScanner) token() form {
	s.text = s.text[:0]
	for c := s.peek(); c != 0 && (!ends[c] || string(s.text) == `\`); c = s.peek() {
		s.take()
		s.text = append(s.text, c)
	}
	digits := bytes.TrimLeft(s.text, "+-")
	switch {
	case len(s.text) == 0:
		return form{}
	case len(digits) > 0 && digits[0] >= '0' && digits[0] <= '9':
		if n, err := strconv.ParseInt(string(bytes.TrimSuffix(s.text, []byte("N"))), 10, 64); err == nil {
			return form{kind: integerForm, number: n}
		}
		return form{kind: numberForm, text: string(s.text)}
	case s.text[0] == ':':
		return form{kind: keywordForm, text: s.interned(s.text[1:])}
	case s.text[0] == '\\':
		return form{kind: textForm, text: string(s.text[1:])}
	}
	return form{text: s.interned(s.text)}
}

// ends are the characters that end a token.
var ends = func() (is [256]bool) {
	for _, c := range []byte(" \t\r\n\f\v,()[]{}\";") {
		is[c] = true
	}
	return is
}()

// interned returns a word as a string. The string of a word that was read before is reused.
func (s *formScanner) interned(word []byte) string {
	text, ok := s.known[string(word)]
	if !ok {
		text = string(word)
		if len(text) < 16 && len(s.known) < 1<<10 {
			s.known[text] = text
		}
	}
	return text
}
