package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// errProtocol is the error of bytes that are no RESP.
var errProtocol = errors.New("this is not Redis's (RESP)")

const (
	deepest = 32      // how far values may be nested
	longest = 1 << 20 // how many elements an aggregate may have
)

// value is a value of RESP, version 2 or 3.
type value struct {
	kind  byte   // its first byte
	text  []byte // of what is no aggregate
	null  bool
	items []value
}

// readValue reads the first value of some bytes, which has n of them: 0 is that it is not whole.
func readValue(b []byte) (v value, n int, err error) { return readNested(b, 0) }

func readNested(b []byte, depth int) (v value, n int, err error) {
	line, n := readLine(b)
	if n == 0 {
		return v, 0, nil
	}
	if len(line) == 0 || depth > deepest {
		return v, 0, errProtocol
	}
	v.kind, v.text = line[0], line[1:]
	switch v.kind {
	case '+', '-', ':', '#', ',', '(':
		return v, n, nil
	case '_':
		v.null = true
		return v, n, nil
	case '$', '=', '!':
		return readBulk(v, b, n)
	case '*', '~', '>', '%', '|':
		return readItems(v, b, n, depth)
	}
	return v, 0, fmt.Errorf("%w: a value begins with %q", errProtocol, v.kind)
}

// readBulk reads a string that is preceded by its length.
func readBulk(v value, b []byte, n int) (value, int, error) {
	size, err := strconv.Atoi(string(v.text))
	switch {
	case err != nil || size < -1:
		return v, 0, fmt.Errorf("%w: a string of length %q", errProtocol, v.text)
	case size == -1:
		v.null, v.text = true, nil
		return v, n, nil
	case len(b)-n < size+2:
		return v, 0, nil
	}
	v.text = b[n : n+size]
	return v, n + size + 2, nil
}

// readItems reads an aggregate. An attribute belongs to the value behind it, and is left out.
func readItems(v value, b []byte, n, depth int) (value, int, error) {
	size, err := strconv.Atoi(string(v.text))
	if err != nil || size < -1 || size > longest {
		return v, 0, fmt.Errorf("%w: %q elements", errProtocol, v.text)
	}
	v.text, v.null = nil, size == -1
	if v.kind == '%' || v.kind == '|' {
		size *= 2
	}
	for range size {
		item, m, err := readNested(b[n:], depth+1)
		if err != nil || m == 0 {
			return v, 0, err
		}
		v.items = append(v.items, item)
		n += m
	}
	if v.kind != '|' {
		return v, n, nil
	}
	behind, m, err := readNested(b[n:], depth+1)
	if err != nil || m == 0 {
		return v, 0, err
	}
	return behind, n + m, nil
}

// readLine is the first line without its end, and its length with it; 0 is that it is not whole.
func readLine(b []byte) (line []byte, n int) {
	i := bytes.Index(b, []byte("\r\n"))
	if i < 0 {
		return nil, 0
	}
	return b[:i], i + 2
}

// readCommand reads the first command of some bytes, which has n of them: 0 is that it is not whole. A command is an array of
// strings, or a line of words.
func readCommand(b []byte) (words []string, n int, err error) {
	if b[0] != '*' {
		return readInline(b)
	}
	v, n, err := readValue(b)
	if err != nil || n == 0 {
		return nil, 0, err
	}
	for _, item := range v.items {
		if item.kind != '$' || item.null {
			return nil, 0, fmt.Errorf("%w: a command has an element that is no string", errProtocol)
		}
		words = append(words, string(item.text))
	}
	return words, n, nil
}

// longestInline is how long a line may be that is a command.
const longestInline = 1 << 16

// mostQuoted is how much is shown of what is no command.
const mostQuoted = 8

func readInline(b []byte) (words []string, n int, err error) {
	i := bytes.IndexByte(b, '\n')
	line := b
	if i >= 0 {
		line = b[:i]
	}
	for _, c := range line {
		if c < ' ' && c != '\r' && c != '\t' {
			return nil, 0, fmt.Errorf("%w: a line that begins with %q", errProtocol, line[:min(len(line), mostQuoted)])
		}
	}
	switch {
	case i >= 0:
	case len(line) > longestInline:
		return nil, 0, fmt.Errorf("%w: a line of more than %d bytes", errProtocol, longestInline)
	default:
		return nil, 0, nil
	}
	for _, w := range bytes.Fields(b[:i]) {
		words = append(words, string(w))
	}
	return words, i + 1, nil
}
