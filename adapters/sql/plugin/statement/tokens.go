package statement

import "strings"

// kind is the kind of a token, such as a word or a number.
type kind uint8

const (
	word   kind = iota
	quoted      // a name in quotation marks
	text
	number
	param
	sign
)

// token is a token of an SQL statement.
type token struct {
	kind   kind
	text   string // text of the token, without quotation marks
	behind bool   // white space or a comment precedes the token
}

// upper returns a word in capitals, and "" for a token that is not a word.
func (t token) upper() string {
	if t.kind != word {
		return ""
	}
	return strings.ToUpper(t.text)
}

// is reports whether the token is the sign s.
func (t token) is(s string) bool { return t.kind == sign && t.text == s }

// Dialect is an SQL dialect, which determines quotation marks and comments.
type Dialect uint8

const (
	Postgres Dialect = iota
	MariaDB          // backslashes in strings, " for strings, ` for names, and # for comments
)

// scanner splits the text of a statement into tokens.
type scanner struct {
	dialect Dialect
	rest    string
}

// scan splits a statement into its tokens.
func scan(sql string, d Dialect) (all []token) {
	s := scanner{d, sql}
	for {
		behind := s.space()
		if s.rest == "" {
			return all
		}
		t := s.next()
		t.behind = behind
		all = append(all, t)
	}
}

// space skips white space and comments, and reports whether there was any.
func (s *scanner) space() (any bool) {
	for s.rest != "" {
		n := 0
		switch {
		case strings.IndexByte(" \t\r\n\f\v", s.rest[0]) >= 0:
			n = 1
		case strings.HasPrefix(s.rest, "--"), s.dialect == MariaDB && s.rest[0] == '#':
			n = until(s.rest, "\n")
		case strings.HasPrefix(s.rest, "/*") && !strings.HasPrefix(s.rest, "/*!"):
			n = until(s.rest, "*/")
		default:
			return any
		}
		s.rest, any = s.rest[n:], true
	}
	return any
}

// until returns the number of bytes up to and including end.
func until(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

// next reads the next token of the text.
func (s *scanner) next() token {
	c := s.rest[0]
	switch {
	case c == '$' && s.dialect == Postgres:
		return s.dollar()
	case c == '?' && s.dialect == MariaDB:
		return token{kind: param, text: s.take(1)}
	case digit(c):
		return token{kind: number, text: s.take(s.length(func(c byte) bool { return digit(c) || letter(c) || c == '.' }))}
	}
	if t, ok := s.marked(); ok {
		return t
	}
	if letter(c) {
		return token{kind: word, text: s.take(s.length(func(c byte) bool { return digit(c) || letter(c) || c == '$' }))}
	}
	return token{kind: sign, text: s.take(1)}
}

// marked takes a token that begins with a quotation mark. ok is false if the next token begins with another character.
func (s *scanner) marked() (t token, ok bool) {
	switch c := s.rest[0]; {
	case c == '\'', c == '"' && s.dialect == MariaDB:
		return token{kind: text, text: s.quoted(c, s.dialect == MariaDB)}, true
	case c == '"', c == '`' && s.dialect == MariaDB:
		return token{kind: quoted, text: s.quoted(c, false)}, true
	case (c == 'e' || c == 'E') && strings.HasPrefix(s.rest[1:], "'") && s.dialect == Postgres:
		s.take(1)
		return token{kind: text, text: s.quoted('\'', true)}, true
	}
	return t, false
}

// take reads n bytes of the text.
func (s *scanner) take(n int) string {
	t := s.rest[:n]
	s.rest = s.rest[n:]
	return t
}

// length returns the number of leading bytes for which of returns true.
func (s *scanner) length(of func(byte) bool) int {
	for i := range len(s.rest) {
		if !of(s.rest[i]) {
			return i
		}
	}
	return len(s.rest)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

// quoted takes a text in quotation marks. A mark within the text is doubled or, if backslash is true, preceded by a
// backslash.
func (s *scanner) quoted(mark byte, backslash bool) string {
	var b strings.Builder
	i := 1
	for ; i < len(s.rest); i++ {
		c := s.rest[i]
		if c == mark {
			if i++; i == len(s.rest) || s.rest[i] != mark {
				break
			}
		} else if c == '\\' && backslash && i+1 < len(s.rest) {
			i++
			c = s.rest[i]
		}
		b.WriteByte(c)
	}
	s.take(i)
	return b.String()
}

// dollar takes a parameter such as $1, or a string such as $tag$text$tag$.
func (s *scanner) dollar() token {
	n := 1
	for n < len(s.rest) && digit(s.rest[n]) {
		n++
	}
	if n > 1 {
		return token{kind: param, text: s.take(n)}
	}
	for n < len(s.rest) && (letter(s.rest[n]) || digit(s.rest[n])) {
		n++
	}
	if n == len(s.rest) || s.rest[n] != '$' {
		return token{kind: sign, text: s.take(1)}
	}
	tag := s.take(n + 1)
	inside := s.take(until(s.rest, tag))
	return token{kind: text, text: strings.TrimSuffix(inside, tag)}
}
