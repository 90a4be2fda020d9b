package plugin

import "encoding/binary"

// field is a field of a protocol buffers message: a number or bytes.
type field struct {
	number int
	value  uint64
	bytes  []byte
}

// fields returns the fields of a message, up to the first that can't be parsed.
func fields(b []byte) (all []field) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return all
		}
		b = b[n:]
		f := field{number: int(tag >> 3 & (1<<29 - 1))}
		switch tag & 7 {
		case 0:
			if f.value, n = binary.Uvarint(b); n <= 0 {
				return all
			}
		case 1:
			n = 8
		case 2:
			size, m := binary.Uvarint(b)
			if m <= 0 || size > uint64(len(b)-m) {
				return all
			}
			n = m + int(size)
			f.bytes = b[m:n]
		case 5:
			n = 4
		default:
			return all
		}
		if n > len(b) {
			return all
		}
		b = b[n:]
		all = append(all, f)
	}
	return all
}

// message is the fields of a message. If a field number occurs twice, the last one counts.
type message []field

func messageOf(b []byte) message { return fields(b) }

// number returns the value of a numeric field, 0 if it is missing.
func (m message) number(field int) (v uint64) {
	for _, f := range m {
		if f.number == field {
			v = f.value
		}
	}
	return v
}

// text returns the value of a text field, "" if it is missing.
func (m message) text(field int) (s string) {
	for _, f := range m {
		if f.number == field {
			s = string(f.bytes)
		}
	}
	return s
}

// has reports whether the message contains a field with the given number.
func (m message) has(field int) bool {
	for _, f := range m {
		if f.number == field {
			return true
		}
	}
	return false
}

// each returns all nested messages in a repeated field.
func (m message) each(field int) (all []message) {
	for _, f := range m {
		if f.number == field {
			all = append(all, messageOf(f.bytes))
		}
	}
	return all
}
