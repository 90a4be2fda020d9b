package histories

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// The reader of EDN is our own: there is no maintained one for Go, and of EDN's richness a history of
// Jepsen's needs only the shape. What has no meaning for a lock (tags, exceptions with their stack
// traces, Clojure's own ways of printing) is read and forgotten.

// form is one value of EDN.
type form struct {
	kind  formKind
	text  string // of all that is no collection; a keyword without its colon
	items []form // of a collection; a map has keys and values by turns
}

type formKind uint8

const (
	symbolForm formKind = iota // also nil, true and false
	keywordForm
	numberForm
	textForm
	listForm // a list, a vector or a set
	mapForm
)

// get is a map's value for a keyword, or nil.
func (f *form) get(keyword string) *form {
	for i := 0; i < len(f.items); i += 2 {
		if k := &f.items[i]; k.kind == keywordForm && k.text == keyword {
			return &f.items[i+1]
		}
	}
	return nil
}

func (f *form) is(symbol string) bool { return f.kind == symbolForm && f.text == symbol }

// integer is the form as a whole number.
func (f *form) integer() (int64, bool) {
	if f.kind != numberForm {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(f.text, "N"), 10, 64)
	return n, err == nil
}

// String is the form for errors.
func (f *form) String() string {
	switch f.kind {
	case keywordForm:
		return ":" + f.text
	case textForm:
		return strconv.Quote(f.text)
	case listForm:
		return "a list"
	case mapForm:
		return "a map"
	}
	return f.text
}

// Bounds of one form, so that no file can exhaust memory.
const (
	maxDepth = 64
	maxForm  = 4 << 20 // bytes
)

// formScanner reads forms one after the other. The first thing that is not as expected stops it:
// everything after that is empty.
type formScanner struct {
	in   *bufio.Reader
	line int
	room int // bytes left for the form at hand
	err  error
	// text is what is being read, and known are the words read so far: a history has few.
	text  []byte
	known map[string]string
}

// peek is the next character, and 0 at the end or after an error.
func (s *formScanner) peek() byte {
	ahead, err := s.in.Peek(1)
	switch {
	case err == io.EOF:
	case err != nil:
		s.stop(err)
	case s.room <= 0:
		s.stop(wrong("", "a value of more than 4 MB", "an event"))
	}
	if s.err != nil || len(ahead) == 0 {
		return 0
	}
	return ahead[0]
}

// peeks reports whether two characters come next.
func (s *formScanner) peeks(two string) bool {
	ahead, _ := s.in.Peek(2)
	return s.err == nil && string(ahead) == two
}

// take goes past the character that was peeked at.
func (s *formScanner) take() {
	c, err := s.in.ReadByte()
	if err != nil {
		return
	}
	s.room--
	if c == '\n' {
		s.line++
	}
}

func (s *formScanner) stop(err error) {
	if s.err == nil {
		s.err = err
	}
}

// fail stops at what is here, which should be something else.
func (s *formScanner) fail(expected string) {
	found := "the end of the file"
	if c := s.peek(); c != 0 {
		found = string(rune(c))
	}
	s.stop(wrong("", found, "%s", expected))
}

// blank passes over what means nothing and gives the character behind it.
func (s *formScanner) blank(depth int) byte {
	for {
		switch c := s.peek(); {
		case strings.IndexByte(" \t\r\n\f,", c) >= 0 && c != 0:
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
			s.room = maxForm // what stands between events belongs to none
		}
	}
}

// form reads the next form.
func (s *formScanner) form(depth int) form {
	if depth > maxDepth {
		s.stop(wrong("", "values nested more than "+strconv.Itoa(maxDepth)+" deep", "an event"))
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

// tagged reads a tag, or metadata, and gives the form behind it: records print as tagged maps.
func (s *formScanner) tagged(depth int) form {
	switch {
	case s.peeks("##"), s.peeks("#'"): // ##NaN, #'var
		return s.token()
	case s.peeks("#{"):
		s.take()
		return s.collection(listForm, '}', depth)
	case s.peeks(`#"`): // a pattern
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
			return form{kind: textForm, text: s.interned()}
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

// token reads what stands without blanks: a keyword, a number, a symbol, a character.
func (s *formScanner) token() form {
	s.text = s.text[:0]
	for c := s.peek(); c != 0; c = s.peek() {
		if strings.IndexByte(" \t\r\n\f,()[]{}\";", c) >= 0 && string(s.text) != `\` {
			break
		}
		s.take()
		s.text = append(s.text, c)
	}
	text := s.interned()
	digits := strings.TrimLeft(text, "+-")
	switch {
	case text == "":
	case text[0] == ':':
		return form{kind: keywordForm, text: text[1:]}
	case text[0] == '\\':
		return form{kind: textForm, text: text[1:]}
	case digits != "" && digits[0] >= '0' && digits[0] <= '9':
		return form{kind: numberForm, text: text}
	}
	return form{text: text}
}

// interned is what was read: the same string where it was read before.
func (s *formScanner) interned() string {
	text, ok := s.known[string(s.text)]
	if !ok {
		text = string(s.text)
		if len(text) < 16 && len(s.known) < 1<<10 {
			s.known[text] = text
		}
	}
	return text
}
