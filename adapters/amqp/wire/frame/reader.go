package frame

import (
	"bytes"
	"encoding/binary"
)

// reader takes elementary values from the front of b. Once a value was missing, all further values are zero.
type reader struct {
	b      []byte
	failed bool
}

// take is the next n bytes, nil if there are fewer.
func (r *reader) take(n int) []byte {
	if n > len(r.b) || r.failed {
		r.b, r.failed = nil, true
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) octet() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) short() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) long() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) longlong() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (r *reader) shortstr() string { return string(r.take(int(r.octet()))) }

// counted is the bytes that follow their length in four bytes.
func (r *reader) counted() []byte {
	n := r.long()
	if uint64(n) > uint64(len(r.b)) {
		r.b, r.failed = nil, true
		return nil
	}
	return r.take(int(n))
}

func (r *reader) longstr() string { return string(r.counted()) }

func (r *reader) table() Table {
	t := r.counted()
	if !checkTable(t, 0) {
		r.failed = true
	}
	if r.failed || len(t) == 0 {
		return nil
	}
	return bytes.Clone(t)
}
