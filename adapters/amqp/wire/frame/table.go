package frame

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
)

// MaxDepth is the maximum depth of nested tables and arrays.
const MaxDepth = 32

// Table is an encoded field table, without the length in front. The zero value is the empty table. A table that was
// read is well-formed. [Table.With] adds a field.
type Table []byte

// Decimal is a number with Scale decimal places.
type Decimal struct {
	Scale uint8
	Value int32
}

// Array is an encoded field array, without the length in front.
type Array []byte

// checkTable reports whether b is a well-formed table.
func checkTable(b []byte, depth int) bool {
	r := reader{b: b}
	for len(r.b) > 0 {
		r.take(int(r.octet()))
		r.checkValue(depth)
	}
	return !r.failed
}

func checkArray(b []byte, depth int) bool {
	r := reader{b: b}
	for len(r.b) > 0 {
		r.checkValue(depth)
	}
	return !r.failed
}

// checkValue reads a type and its value, and marks the reader as failed if they are invalid.
func (r *reader) checkValue(depth int) {
	switch kind := r.octet(); kind {
	case 'F':
		inner := r.counted()
		r.failed = r.failed || depth >= MaxDepth || !checkTable(inner, depth+1)
	case 'A':
		inner := r.counted()
		r.failed = r.failed || depth >= MaxDepth || !checkArray(inner, depth+1)
	case 'S', 'x':
		r.counted()
	default:
		n, known := sizes[kind]
		r.take(n)
		r.failed = r.failed || !known
	}
	if r.failed {
		r.b = nil
	}
}

// sizes is the size in bytes of each type whose values have a fixed size, in RabbitMQ's dialect of types.
var sizes = map[uint8]int{
	'V': 0, 't': 1, 'b': 1, 'B': 1, 's': 2, 'u': 2, 'I': 4, 'i': 4, 'f': 4, 'D': 5, 'l': 8, 'L': 8, 'T': 8, 'd': 8,
}

// Timestamp is a time in seconds since 1970.
type Timestamp uint64

// All are the fields in order. A value is a bool, int8 to int64, uint8 to uint32, float32, float64, Decimal, Timestamp,
// string, []byte, Table, Array, or nil for void. Values of bytes share memory with the table.
func (t Table) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		r := reader{b: t}
		for len(r.b) > 0 {
			if name := r.shortstr(); !yield(name, r.value()) {
				return
			}
		}
	}
}

// Lookup is the value of the field with the given name. The second result reports whether there is one.
func (t Table) Lookup(name string) (any, bool) {
	for n, value := range t.All() {
		if n == name {
			return value, true
		}
	}
	return nil, false
}

// All are the values in order; see [Table.All].
func (a Array) All() iter.Seq[any] {
	return func(yield func(any) bool) {
		r := reader{b: a}
		for len(r.b) > 0 {
			if !yield(r.value()) {
				return
			}
		}
	}
}

// value reads a type and the value that follows it.
func (r *reader) value() any {
	switch r.octet() {
	case 't':
		return r.octet() != 0
	case 'b':
		return int8(r.octet())
	case 'B':
		return r.octet()
	case 's':
		return int16(r.short())
	case 'u':
		return r.short()
	case 'I':
		return int32(r.long())
	case 'i':
		return r.long()
	case 'l', 'L':
		return int64(r.longlong())
	case 'f':
		return math.Float32frombits(r.long())
	case 'd':
		return math.Float64frombits(r.longlong())
	case 'D':
		return Decimal{r.octet(), int32(r.long())}
	case 'T':
		return Timestamp(r.longlong())
	case 'S':
		return r.longstr()
	case 'x':
		return r.counted()
	case 'F':
		return Table(r.counted())
	case 'A':
		return Array(r.counted())
	}
	return nil
}

// With is the table with one more field. Values are of the types that [Table.All] lists. It panics for another type, and for
// a name of more than 255 bytes.
func (t Table) With(name string, value any) Table {
	if len(name) > 255 {
		panic(fmt.Sprintf("frame: a field's name of %d bytes", len(name)))
	}
	return appendValue(appendShortstr(t, name), value)
}

// With is the array with one more value; see [Table.With].
func (a Array) With(value any) Array { return appendValue(a, value) }

func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, 'V')
	case bool:
		return appendBits(append(b, 't'), v)
	case int8:
		return append(b, 'b', byte(v))
	case uint8:
		return append(b, 'B', v)
	case int16:
		return appendShort(append(b, 's'), uint16(v))
	case uint16:
		return appendShort(append(b, 'u'), v)
	case int32:
		return appendLong(append(b, 'I'), uint32(v))
	case uint32:
		return appendLong(append(b, 'i'), v)
	case int64:
		return appendLonglong(append(b, 'l'), uint64(v))
	case float32:
		return appendLong(append(b, 'f'), math.Float32bits(v))
	case float64:
		return appendLonglong(append(b, 'd'), math.Float64bits(v))
	case Decimal:
		return binary.BigEndian.AppendUint32(append(b, 'D', v.Scale), uint32(v.Value))
	case Timestamp:
		return appendLonglong(append(b, 'T'), uint64(v))
	case string:
		return appendLongstr(append(b, 'S'), v)
	case []byte:
		return append(appendLong(append(b, 'x'), uint32(len(v))), v...)
	case Table:
		return appendTable(append(b, 'F'), v)
	case Array:
		return append(appendLong(append(b, 'A'), uint32(len(v))), v...)
	}
	panic(fmt.Sprintf("frame: a field table has no type for %T", value))
}

// ParseTable parses a table that has no length in front, as in the response of the SASL mechanism AMQPLAIN. It reports
// whether b is well-formed. The table shares memory with b.
func ParseTable(b []byte) (Table, bool) { return b, checkTable(b, 0) }
