// Package resp implements Redis's protocol RESP, as far as lockproof needs it: values, and connections for
// lockproof's own commands.
package resp

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// ErrProtocol is the error for bytes that are not RESP.
var ErrProtocol = errors.New("this is not Redis's (RESP)")

// Limits of the size of a value.
const (
	Deepest = 32      // maximum depth of nested values
	longest = 1 << 20 // maximum number of elements of an aggregate
)

// Value is a RESP value, of version 2 or 3 of the protocol.
type Value struct {
	Kind  byte   // first byte, which says the value's type
	Text  []byte // content, if the value is not an aggregate
	Null  bool
	Items []Value
}

// Read parses the first value of b. n is its length in bytes, 0 if it is incomplete.
func Read(b []byte) (v Value, n int, err error) { return readNested(b, 0) }

func readNested(b []byte, depth int) (v Value, n int, err error) {
	line, n := readLine(b)
	if n == 0 {
		return v, 0, nil
	}
	if len(line) == 0 || depth > Deepest {
		return v, 0, ErrProtocol
	}
	v.Kind, v.Text = line[0], line[1:]
	switch v.Kind {
	case '+', '-', ':', '#', ',', '(':
		return v, n, nil
	case '_':
		v.Null = true
		return v, n, nil
	case '$', '=', '!':
		return readBulk(v, b, n)
	case '*', '~', '>', '%', '|':
		return readItems(v, b, n, depth)
	}
	return v, 0, fmt.Errorf("%w: a value begins with %q", ErrProtocol, v.Kind)
}

// readBulk reads a string after the line with its length.
func readBulk(v Value, b []byte, n int) (Value, int, error) {
	size, err := strconv.Atoi(string(v.Text))
	switch {
	case err != nil || size < -1:
		return v, 0, fmt.Errorf("%w: a string of length %q", ErrProtocol, v.Text)
	case size == -1:
		v.Null, v.Text = true, nil
		return v, n, nil
	case len(b)-n < size+2:
		return v, 0, nil
	}
	v.Text = b[n : n+size]
	return v, n + size + 2, nil
}

// readItems reads an aggregate after the line with its length. It skips an attribute, which only describes the value
// after it.
func readItems(v Value, b []byte, n, depth int) (Value, int, error) {
	size, err := strconv.Atoi(string(v.Text))
	if err != nil || size < -1 || size > longest {
		return v, 0, fmt.Errorf("%w: %q elements", ErrProtocol, v.Text)
	}
	v.Text, v.Null = nil, size == -1
	if v.Kind == '%' || v.Kind == '|' {
		size *= 2
	}
	for range size {
		item, m, err := readNested(b[n:], depth+1)
		if err != nil || m == 0 {
			return v, 0, err
		}
		v.Items = append(v.Items, item)
		n += m
	}
	if v.Kind != '|' {
		return v, n, nil
	}
	behind, m, err := readNested(b[n:], depth+1)
	if err != nil || m == 0 {
		return v, 0, err
	}
	return behind, n + m, nil
}

// readLine returns the first line without its line end. n is its length with the line end, 0 if it is incomplete.
func readLine(b []byte) (line []byte, n int) {
	i := bytes.Index(b, []byte("\r\n"))
	if i < 0 {
		return nil, 0
	}
	return b[:i], i + 2
}

// Clone returns a copy of the value that shares no memory with it.
func (v Value) Clone() Value {
	v.Text = append([]byte(nil), v.Text...)
	items := v.Items
	v.Items = nil
	for _, item := range items {
		v.Items = append(v.Items, item.Clone())
	}
	return v
}
