package mariadb

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/adapters/sql/plugin/statement"
)

// errProtocol is the error for bytes that are not packets of MariaDB's protocol, or that use an unsupported part of
// it.
var errProtocol = errors.New("this is not MariaDB's protocol, as far as it is known here")

// longest is the length at which a message is split into several packets, which is not supported.
const longest = 1<<24 - 1

// readPacket reads the first packet of b. n is its length, 0 if it is incomplete.
func readPacket(b []byte) (body []byte, n int, err error) {
	if len(b) < 4 {
		return nil, 0, nil
	}
	size := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
	switch {
	case size == longest:
		return nil, 0, fmt.Errorf("%w: a packet of 16 MiB", errProtocol)
	case len(b) < size+4:
		return nil, 0, nil
	}
	return b[4 : size+4], size + 4, nil
}

// fields parses a packet field by field. If a field is beyond the packet's end, its value is empty, and short becomes
// true.
type fields struct {
	rest  []byte
	short bool
	most  int // maximum bytes kept of a value; 0 means statement.MostOfValue
}

// take returns the next n bytes of the packet.
func (f *fields) take(n int) []byte {
	if n < 0 || n > len(f.rest) {
		f.short, f.rest = true, nil
		return nil
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

// number reads a number of up to 8 bytes.
func (f *fields) number(bytes int) (n uint64) {
	for i, c := range f.take(bytes) {
		n |= uint64(c) << (8 * i)
	}
	return n
}

// null is the byte that represents NULL in a row in text form.
const null = 0xfb

// length reads a length, whose first byte says how many bytes follow.
func (f *fields) length() int {
	switch first := f.number(1); first {
	case 0xfc:
		return int(f.number(2))
	case 0xfd:
		return int(f.number(3))
	case 0xfe:
		return int(min(f.number(8), longest))
	default:
		return int(first)
	}
}

// text reads a string that is preceded by its length.
func (f *fields) text() string {
	b := f.take(f.length())
	return string(b[:min(len(b), cmp.Or(f.most, statement.MostOfValue))])
}

// zero reads a string that ends with a zero byte.
func (f *fields) zero() string {
	for i, c := range f.rest {
		if c == 0 {
			return string(f.take(i + 1)[:i])
		}
	}
	f.short = true
	return ""
}

// row reads the values of a row in text form.
func (f *fields) row() (all []string) {
	for len(f.rest) > 0 && len(all) < statement.MostValues {
		if f.rest[0] == null {
			f.take(1)
			all = append(all, statement.Null)
			continue
		}
		all = append(all, f.text())
	}
	return all
}

// widths are the widths of numbers in binary form, in bytes, by type.
var widths = map[byte]int{0x01: 1, 0x02: 2, 0x0d: 2, 0x03: 4, 0x09: 4, 0x08: 8}

// binary reads a value in binary form, of the given type.
func (f *fields) binary(kind byte) string {
	switch width := widths[kind]; {
	case width > 0:
		shift := 64 - 8*width
		return fmt.Sprint(int64(f.number(width)<<shift) >> shift)
	case kind == 0x04 || kind == 0x05: // floating point
		return fmt.Sprintf("0x%x", f.take(4*int(kind-3)))
	case kind >= 0x07 && kind <= 0x0c: // dates and times
		b := f.take(int(f.number(1)))
		return fmt.Sprintf("0x%x", b)
	case kind == 0x06:
		return statement.Null
	}
	return f.text()
}

// failure returns the error code of an error packet.
func failure(body []byte) uint16 {
	if len(body) < 3 {
		return 0
	}
	return binary.LittleEndian.Uint16(body[1:])
}
