package plugin

import "encoding/binary"

// record is the unread rest of a request or a reply. Reading beyond its end returns zero values.
type record struct{ b []byte }

// take returns the next n bytes of the record.
func (r *record) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.b = nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// int reads a number of four bytes.
func (r *record) int() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// long reads a number of eight bytes.
func (r *record) long() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// flag reads a boolean of one byte.
func (r *record) flag() bool {
	b := r.take(1)
	return len(b) == 1 && b[0] != 0
}

// buffer reads bytes that are preceded by their number.
func (r *record) buffer() []byte { return r.take(int(r.int())) }

// text reads a string that is preceded by its length.
func (r *record) text() string { return string(r.buffer()) }

// acl skips an access control list.
func (r *record) acl() {
	for n := r.int(); n > 0 && len(r.b) > 0; n-- {
		r.int()
		r.buffer()
		r.buffer()
	}
}

func appendInt(b []byte, v int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }

func appendLong(b []byte, v int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(v)) }

func appendBuffer(b, v []byte) []byte { return append(appendInt(b, int32(len(v))), v...) }

// framed returns b, preceded by its length.
func framed(b []byte) []byte { return appendBuffer(nil, b) }
