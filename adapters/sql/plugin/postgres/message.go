package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/lockproof/lockproof/adapters/sql/plugin/statement"
)

// errProtocol is the error for bytes that are not messages of PostgreSQL's protocol.
var errProtocol = errors.New("this is not PostgreSQL's protocol, version 3")

// longest is the maximum length of a message, in bytes.
const longest = 1 << 24

// readMessage reads the first message of b. n is its length, 0 if it is incomplete.
func readMessage(b []byte) (kind byte, body []byte, n int, err error) {
	if len(b) < 5 {
		return 0, nil, 0, nil
	}
	body, n, err = readBody(b[1:])
	if n == 0 || err != nil {
		return 0, nil, 0, err
	}
	return b[0], body, n + 1, nil
}

// readBody reads a length and the body that follows. n counts both, and is 0 if they are incomplete.
func readBody(b []byte) (body []byte, n int, err error) {
	if len(b) < 4 {
		return nil, 0, nil
	}
	size := binary.BigEndian.Uint32(b)
	switch {
	case size < 4 || size > longest:
		return nil, 0, fmt.Errorf("%w: a message of %d bytes", errProtocol, size)
	case len(b) < int(size):
		return nil, 0, nil
	}
	return b[4:size], int(size), nil
}

// fields parses the body of a message field by field. If a field is beyond the end, its value is empty, and short
// becomes true.
type fields struct {
	rest  []byte
	short bool
}

// take returns the next n bytes of the message.
func (f *fields) take(n int) []byte {
	if n < 0 || n > len(f.rest) {
		f.short, f.rest = true, nil
		return nil
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

// text reads a string that ends with a zero byte.
func (f *fields) text() string {
	s, rest, ok := bytes.Cut(f.rest, []byte{0})
	f.rest, f.short = rest, f.short || !ok
	return string(s)
}

// int16 reads a number of two bytes.
func (f *fields) int16() int {
	if b := f.take(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

// value reads a value that is preceded by its length.
func (f *fields) value() string {
	b := f.take(4)
	if b == nil {
		return ""
	}
	size := int32(binary.BigEndian.Uint32(b))
	if size == -1 {
		return statement.Null
	}
	b = f.take(int(size))
	return plain(b[:min(len(b), statement.MostOfValue)])
}

// plain returns a value as text. A value with control characters counts as a binary number.
func plain(b []byte) string {
	for _, c := range b {
		if c >= ' ' {
			continue
		}
		var n int64
		for _, c := range b[:min(8, len(b))] {
			n = n<<8 | int64(c)
		}
		return strconv.FormatInt(n, 10)
	}
	return string(b)
}

// values reads the values of a row, each preceded by its length.
func (f *fields) values() (all []string) {
	for range f.int16() {
		if f.short || len(all) == statement.MostValues {
			return all
		}
		all = append(all, f.value())
	}
	return all
}

// failure is an error or a notice from the server.
type failure struct{ severity, code, message string }

// ends reports whether the error ends the connection.
func (f failure) ends() bool { return f.severity == "FATAL" || f.severity == "PANIC" }

// readFailure reads the fields of an error or a notice.
func readFailure(body []byte) (out failure) {
	f := fields{rest: body}
	for len(f.rest) > 1 {
		kind := f.take(1)[0]
		switch text := f.text(); kind {
		case 'V':
			out.severity = text
		case 'S':
			if out.severity == "" {
				out.severity = text
			}
		case 'C':
			out.code = text
		case 'M':
			out.message = text
		}
	}
	return out
}
