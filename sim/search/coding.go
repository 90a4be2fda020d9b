package search

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"
	"io"
	"maps"
	"slices"
)

// encoder writes numbers, and the digest of all that was written at the end. The first error stays.
type encoder struct {
	w   *bufio.Writer
	sum hash.Hash
	out io.Writer
	buf [8]byte
	err error
}

func newEncoder(out io.Writer) *encoder {
	sum := sha256.New()
	return &encoder{w: bufio.NewWriterSize(io.MultiWriter(out, sum), 1<<16), sum: sum, out: out}
}

func (e *encoder) bytes(b []byte) { _, _ = e.w.Write(b) } // the buffer keeps the first error

func (e *encoder) u32(n uint32) {
	binary.LittleEndian.PutUint32(e.buf[:], n)
	e.bytes(e.buf[:4])
}

func (e *encoder) u64(n uint64) {
	binary.LittleEndian.PutUint64(e.buf[:], n)
	e.bytes(e.buf[:])
}

func (e *encoder) tuple(t []uint32) {
	for _, n := range t {
		e.u32(n)
	}
}

func (e *encoder) blob(b []byte) {
	e.u32(uint32(len(b)))
	e.bytes(b)
}

func (e *encoder) json(v any) {
	b, err := json.Marshal(v)
	e.failed(err)
	e.blob(b)
}

// failed notes an error.
func (e *encoder) failed(err error) {
	if e.err == nil {
		e.err = err
	}
}

// close writes the digest.
func (e *encoder) close() error {
	if err := e.w.Flush(); err != nil {
		return err
	}
	if e.err != nil {
		return e.err
	}
	_, err := e.out.Write(e.sum.Sum(nil))
	return err
}

// decoder reads numbers. It never makes more room than there are bytes left to read; the first error
// stays, and everything is 0 from then on.
type decoder struct {
	r    io.Reader
	left int64
	err  error
	buf  [8]byte
}

// newDecoder reads what an encoder has written, but for the digest: so many bytes.
func newDecoder(r io.Reader, size int64) *decoder { return &decoder{r: r, left: size} }

// read fills b.
func (d *decoder) read(b []byte) {
	if d.left -= int64(len(b)); d.left < 0 {
		d.damaged()
	}
	if d.err == nil {
		_, d.err = io.ReadFull(d.r, b)
	}
	if d.err != nil {
		clear(b)
	}
}

// failed notes an error.
func (d *decoder) failed(err error) {
	if d.err == nil {
		d.err = err
	}
}

// damaged notes that what was read cannot be so, unless it could not be read.
func (d *decoder) damaged() { d.failed(errDamaged) }

// json reads a blob into a value.
func (d *decoder) json(v any) error {
	if json.Unmarshal(d.blob(), v) != nil {
		d.damaged()
	}
	return d.err
}

func (d *decoder) u32() uint32 {
	d.read(d.buf[:4])
	return binary.LittleEndian.Uint32(d.buf[:])
}

func (d *decoder) u64() uint64 {
	d.read(d.buf[:])
	return binary.LittleEndian.Uint64(d.buf[:])
}

// count is how many things of at least so many bytes follow.
func (d *decoder) count(size int) int { return d.fits(d.u64(), size) }

func (d *decoder) fits(n uint64, size int) int {
	if n > uint64(max(0, d.left))/uint64(size) {
		d.damaged()
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

func (d *decoder) blob() []byte {
	b := make([]byte, d.fits(uint64(d.u32()), 1))
	d.read(b)
	return b
}

// below reads a number less than n.
func (d *decoder) below(n uint32) uint32 {
	m := d.u32()
	if m >= n {
		d.damaged()
		return 0
	}
	return m
}

// numbers writes some.
func (e *encoder) numbers(of []uint32) {
	e.u32(uint32(len(of)))
	e.tuple(of)
}

// numbers reads some that are less than n.
func (d *decoder) numbers(n uint32) (out []uint32) {
	for k := d.fits(uint64(d.u32()), 4); k > 0 && d.err == nil; k-- {
		out = append(out, d.below(n))
	}
	return out
}

// mapping writes one in the order of its keys.
func (e *encoder) mapping(m map[uint32]uint32) {
	e.u32(uint32(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e.tuple([]uint32{k, m[k]})
	}
}

// mapping reads one from numbers less than n to numbers less than m.
func (d *decoder) mapping(into map[uint32]uint32, n, m uint32) {
	for k := d.fits(uint64(d.u32()), 8); k > 0 && d.err == nil; k-- {
		from := d.below(n)
		into[from] = d.below(m)
	}
}
