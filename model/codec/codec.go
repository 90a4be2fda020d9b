package codec

import "encoding/binary"

// Coder writes values, or reads values that a Coder has written.
type Coder struct {
	buf     []byte
	reading bool
}

// Write returns a coder that appends to buf.
func Write(buf []byte) Coder { return Coder{buf: buf} }

// Read returns a coder that reads buf. Reading beyond its end panics, since the program itself has written the bytes.
func Read(buf []byte) Coder { return Coder{buf: buf, reading: true} }

// Bytes are the bytes written so far or, when reading, the bytes not yet read.
func (c *Coder) Bytes() []byte { return c.buf }

// Reading reports whether the coder reads rather than writes.
func (c *Coder) Reading() bool { return c.reading }

// Byte writes or reads one byte.
func Byte[T ~uint8](c *Coder, p *T) {
	if c.reading {
		*p, c.buf = T(c.buf[0]), c.buf[1:]
		return
	}
	c.buf = append(c.buf, byte(*p))
}

// Bool writes or reads a bool.
func Bool(c *Coder, p *bool) {
	var b uint8
	if *p {
		b = 1
	}
	Byte(c, &b)
	*p = b != 0
}

// Bools writes or reads up to eight bools, packed into one byte.
func Bools(c *Coder, ps ...*bool) {
	var b uint8
	for i, p := range ps {
		if *p {
			b |= 1 << i
		}
	}
	if Byte(c, &b); !c.reading {
		return
	}
	for i, p := range ps {
		*p = b&(1<<i) != 0
	}
}

// Number writes or reads a nonnegative number, in 7 bits per byte: small numbers take one byte.
func Number[T ~uint16 | ~uint32 | ~uint64 | ~int | ~int32 | ~int64](c *Coder, p *T) {
	*p = T(c.number(uint64(*p))) // not in number, so that *p need not be on the heap
}

func (c *Coder) number(v uint64) uint64 {
	switch {
	case !c.reading && v < 0x80:
		c.buf = append(c.buf, byte(v))
	case !c.reading:
		c.buf = binary.AppendUvarint(c.buf, v)
	case c.buf[0] < 0x80:
		v, c.buf = uint64(c.buf[0]), c.buf[1:]
	default:
		n := 0
		v, n = binary.Uvarint(c.buf)
		c.buf = c.buf[n:]
	}
	return v
}

// Length writes n, or reads a number, and returns the number written or read: that of the elements that follow.
func Length(c *Coder, n int) int { return int(c.number(uint64(n))) }

// String writes or reads a string.
func String(c *Coder, p *string) {
	n := Length(c, len(*p))
	if c.reading {
		*p, c.buf = string(c.buf[:n]), c.buf[n:]
		return
	}
	c.buf = append(c.buf, *p...)
}
