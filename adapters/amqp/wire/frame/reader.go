package frame

import (
	"bytes"
	"encoding/binary"
)

// reader reads elementary AMQP values from the front of b. If b ends too early, this and all later values are zero.
type reader struct {
	b      []byte
	failed bool
}

// take is the next n bytes; nil if fewer are left.
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

// counted reads a length of four bytes and returns that many bytes after it.
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
