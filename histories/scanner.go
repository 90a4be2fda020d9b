package histories

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/model/history"
)

// scanner reads one line of JSON, token by token. It is several times as fast as decoding into structs. This matters
// since reading takes most of the time of checking a long history.
//
// The first unexpected token stops it; everything after that is empty.
type scanner struct {
	line []byte
	at   int
	err  error
	// field is the name of the current field, and name the position of that name in the line. Both are for errors.
	field string
	name  int
}

// reset begins another line.
func (s *scanner) reset(line []byte) { *s = scanner{line: line} }

// peek is the next character that is not blank. It is 0 at the end of the line or after an error.
func (s *scanner) peek() byte {
	if s.at < len(s.line) && s.line[s.at] > ' ' {
		return s.line[s.at]
	}
	return s.blank()
}

func (s *scanner) blank() byte {
	for ; s.at < len(s.line); s.at++ {
		switch c := s.line[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// enter reads the beginning of an object, and reports whether the object has a field. more reports whether another
// field follows.
//
//	for ok := s.enter(); ok; ok = s.more() {
//		switch string(s.key()) { … }
//	}
func (s *scanner) enter() bool {
	if s.peek() != '{' {
		s.fail("an object")
		return false
	}
	s.at++
	if s.peek() == '}' {
		s.at++
		return false
	}
	return true
}

func (s *scanner) more() bool {
	switch s.peek() {
	case ',':
		s.at++
		return true
	case '}':
		s.at++
	default:
		s.field = ""
		s.fail("a comma or a closing brace")
	}
	return false
}

// key reads a field's name.
func (s *scanner) key() []byte {
	s.peek()
	s.field, s.name = "", s.at
	name := s.text()
	if s.peek() != ':' {
		s.fail("a colon")
		return nil
	}
	s.at++
	return name
}

// text reads a string. The result is valid until the next line is read.
func (s *scanner) text() []byte {
	if s.peek() != '"' {
		s.fail("a string")
		return nil
	}
	begin := s.at + 1
	i := begin
	for i < len(s.line) && !special[s.line[i]] {
		i++
	}
	if i == len(s.line) || s.line[i] != '"' {
		return s.escaped()
	}
	s.at = i + 1
	return s.line[begin:i]
}

// special are the characters that end the simple part of a string: quotes, backslashes, controls and all that are not
// ASCII.
var special = func() (is [256]bool) {
	for c := range is {
		is[c] = c < ' ' || c >= 0x80 || c == '"' || c == '\\'
	}
	return is
}()

// escaped reads a string that contains special characters, with the JSON library.
func (s *scanner) escaped() []byte {
	begin := s.at
	for s.at++; s.at < len(s.line) && s.line[s.at] != '"'; s.at++ {
		if s.line[s.at] == '\\' {
			s.at++
		}
	}
	if s.at >= len(s.line) {
		s.fail("a closing quote")
		return nil
	}
	s.at++
	text, err := jsontext.AppendUnquote(nil, s.line[begin:s.at])
	if err != nil {
		s.at = begin
		s.fail("a string of JSON")
	}
	return text
}

// pick reads a string and looks its value up in a table of words.
func pick[T any](s *scanner, table *words[T]) T {
	begin := s.at
	v, ok := table.find(s.text())
	if !ok && s.err == nil {
		s.at = begin
		s.fail(table.expected)
	}
	return v
}

// unknown stops the scan with an error about a field name that is not one of fields.
func (s *scanner) unknown(fields []string) {
	s.at = s.name
	s.fail("one of the fields " + either(fields))
}

// integer reads an integer between two bounds.
func (s *scanner) integer(low, high int64) int64 {
	c := s.peek()
	begin := s.at
	negative := c == '-'
	if negative {
		s.at++
	}
	digits := s.at
	var n uint64
	for s.at < len(s.line) && s.line[s.at]-'0' <= 9 && s.at-digits < 19 {
		n = n*10 + uint64(s.line[s.at]-'0')
		s.at++
	}
	v := int64(n)
	if negative {
		v = -v
	}
	if s.at == digits || s.at-digits > 1 && s.line[digits] == '0' || n > math.MaxInt64 || v < low || v > high || !s.ended() {
		s.at = begin
		s.fail(wholeNumber(low, high))
		return 0
	}
	return v
}

// nodes reads an array of node numbers.
func (s *scanner) nodes() (set history.Nodes) {
	if s.peek() != '[' {
		s.fail("an array of nodes")
		return 0
	}
	for c := byte(','); c == ','; c = s.peek() {
		s.at++
		if number := s.integer(1, history.MostNodes); number > 0 {
			set |= history.NodesOf(int(number))
		}
	}
	if s.peek() != ']' {
		s.fail("a comma or a closing bracket")
		return 0
	}
	s.at++
	return set
}

func wholeNumber(low, high int64) string {
	if high == math.MaxInt64 {
		return "a whole number of 64 bits"
	}
	return "a whole number from " + strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10)
}

// ended reports whether the next character ends a number or a word.
func (s *scanner) ended() bool {
	if s.at == len(s.line) {
		return true
	}
	switch s.line[s.at] {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// null reads the word null if it comes next, and reports whether it did.
func (s *scanner) null() bool { return s.word("null") }

// truth reads true or false.
func (s *scanner) truth() bool {
	switch {
	case s.word("true"):
		return true
	case s.word("false"):
	default:
		s.fail("true or false")
	}
	return false
}

func (s *scanner) word(word string) bool {
	s.peek()
	if len(s.line)-s.at < len(word) || string(s.line[s.at:s.at+len(word)]) != word {
		return false
	}
	s.at += len(word)
	return true
}

// end checks that nothing follows in the line.
func (s *scanner) end() {
	if s.peek() != 0 || s.at < len(s.line) { // after an error the rest of the line was dropped
		s.field = ""
		s.fail("the end of the line")
	}
}

// fail stops the scan with an error about the next token. It has no effect after the first error.
func (s *scanner) fail(expected string) {
	if s.err == nil {
		s.err = &fieldError{s.field, s.found(), expected}
		s.line, s.at = nil, 0
	}
}

// found returns the text of the next token for an error message. A long token is cut off.
func (s *scanner) found() string {
	const most = 24
	rest := s.line[min(s.at, len(s.line)):]
	if len(rest) == 0 {
		return "the end of the line"
	}
	for _, word := range []string{"null", "true", "false", "-"} {
		if strings.HasPrefix(word, string(rest)) && (len(rest) < len(word) || word == "-") {
			return string(rest) + " and the end of the line"
		}
	}
	n := 1
	for n < len(rest) && n < most && rest[n] != ',' && rest[n] != '}' {
		n++
	}
	if n == most {
		return string(rest[:n]) + "…"
	}
	return string(rest[:n])
}
