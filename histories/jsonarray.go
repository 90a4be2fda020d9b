package histories

import "bytes"

// elements splits a JSON array into its objects, for a [bufio.Scanner]. It only looks for the end of each object. Other
// text becomes an element too, and is refused later, since it is no valid event.
type elements struct {
	line    int  // line in which the last element began, from 1
	at      int  // current line, from 1
	begun   bool // the opening bracket was read
	another bool // a comma was read, so an element must follow
	any     bool
	ended   bool // the closing bracket was read
}

// split is a [bufio.SplitFunc].
func (a *elements) split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := 0
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\n':
			a.at++
		case c == ' ' || c == '\t' || c == '\r':
		case c == '[' && !a.begun:
			a.begun = true
		case c == ',' && a.any && !a.another && !a.ended:
			a.another = true
		case c == ']' && a.begun && !a.another && !a.ended:
			a.ended = true
		default:
			return a.element(data, i, atEOF)
		}
	}
	if atEOF && !a.ended {
		a.line = a.at
		return i, nil, wrong("", "the end", "a closing bracket after the last event")
	}
	return i, nil, nil
}

// element returns the element that begins at i. This is an object, or otherwise the text up to the next comma or
// bracket. If the data ends before the element does, it asks for more data.
func (a *elements) element(data []byte, i int, atEOF bool) (advance int, token []byte, err error) {
	a.line = a.at
	switch {
	case a.ended:
		return i, nil, wrong("", string(data[i:min(i+1, len(data))]), "nothing behind the closing bracket")
	case a.any && !a.another:
		return i, nil, wrong("", string(data[i:min(i+1, len(data))]), "a comma or a closing bracket after an event")
	}
	n := objectEnd(data[i:])
	switch {
	case n == 0 && atEOF:
		n = len(data) - i
	case n == 0:
		return i, nil, nil // ask for more input
	}
	token = data[i : i+n]
	a.at += bytes.Count(token, []byte{'\n'})
	a.any, a.another = true, false
	return i + n, token, nil
}

// objectEnd is the length of the object at the beginning of data; 0 if the object is incomplete. Anything else ends
// before the next comma or bracket.
func objectEnd(data []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case depth == 0 && i > 0 && (c == ',' || c == ']'):
			return i
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return 0
}
