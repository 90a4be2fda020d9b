package states

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

// Encoder writes numbers and bytes, and finally the digest of all that it has written. It keeps the first error for
// Close.
type Encoder struct {
	w   *bufio.Writer
	sum hash.Hash
	out io.Writer
	buf [8]byte
	err error
}

// NewEncoder returns an encoder that writes to out.
func NewEncoder(out io.Writer) *Encoder {
	sum := sha256.New()
	return &Encoder{w: bufio.NewWriterSize(io.MultiWriter(out, sum), 1<<16), sum: sum, out: out}
}

// Bytes writes the bytes of b, without their count.
func (e *Encoder) Bytes(b []byte) { _, _ = e.w.Write(b) } // the buffered writer keeps the first error

// U32 writes a number of 4 bytes, little-endian.
func (e *Encoder) U32(n uint32) {
	binary.LittleEndian.PutUint32(e.buf[:], n)
	e.Bytes(e.buf[:4])
}

// U64 writes a number of 8 bytes, little-endian.
func (e *Encoder) U64(n uint64) {
	binary.LittleEndian.PutUint64(e.buf[:], n)
	e.Bytes(e.buf[:])
}

// Tuple writes numbers of 4 bytes each, without their count.
func (e *Encoder) Tuple(t []uint32) {
	for _, n := range t {
		e.U32(n)
	}
}

// Blob writes the number of bytes in b, and then the bytes.
func (e *Encoder) Blob(b []byte) {
	e.U32(uint32(len(b)))
	e.Bytes(b)
}

// JSON writes the JSON encoding of a value, as a blob.
func (e *Encoder) JSON(v any) {
	b, err := json.Marshal(v)
	e.Failed(err)
	e.Blob(b)
}

// Failed records an error, unless there is an earlier one.
func (e *Encoder) Failed(err error) {
	if e.err == nil {
		e.err = err
	}
}

// Close writes the digest, and returns the first error.
func (e *Encoder) Close() error {
	if err := e.w.Flush(); err != nil {
		return err
	}
	if e.err != nil {
		return e.err
	}
	_, err := e.out.Write(e.sum.Sum(nil))
	return err
}

// Decoder reads what an [Encoder] wrote. It never allocates more memory than the number of bytes that are left to read
// (Left). It keeps the first error in Err. After an error, every number that it reads is 0.
type Decoder struct {
	r    io.Reader
	Left int64
	Err  error
	buf  [8]byte
}

// NewDecoder returns a decoder of the first size bytes of r: the output of an encoder without its digest.
func NewDecoder(r io.Reader, size int64) *Decoder { return &Decoder{r: r, Left: size} }

// Read fills b with the next bytes.
func (d *Decoder) Read(b []byte) {
	if d.Left -= int64(len(b)); d.Left < 0 {
		d.Damaged()
	}
	if d.Err == nil {
		_, d.Err = io.ReadFull(d.r, b)
	}
	if d.Err != nil {
		clear(b)
	}
}

// Failed records an error, unless there is an earlier one.
func (d *Decoder) Failed(err error) {
	if d.Err == nil {
		d.Err = err
	}
}

// Damaged records [ErrDamaged], unless there is an earlier error. It is called if the content cannot be right.
func (d *Decoder) Damaged() { d.Failed(ErrDamaged) }

// JSON reads a blob and decodes its JSON into a value.
func (d *Decoder) JSON(v any) error {
	if json.Unmarshal(d.Blob(), v) != nil {
		d.Damaged()
	}
	return d.Err
}

// U32 reads a number of 4 bytes.
func (d *Decoder) U32() uint32 {
	d.Read(d.buf[:4])
	return binary.LittleEndian.Uint32(d.buf[:])
}

// U64 reads a number of 8 bytes.
func (d *Decoder) U64() uint64 {
	d.Read(d.buf[:])
	return binary.LittleEndian.Uint64(d.buf[:])
}

// Count reads the number of elements that follow. Each takes at least size bytes.
func (d *Decoder) Count(size int) int { return d.Fits(d.U64(), size) }

// Fits returns n if n elements of at least size bytes each fit into the rest of the file. Otherwise it returns 0 and
// records that the file is damaged.
func (d *Decoder) Fits(n uint64, size int) int {
	if n > uint64(max(0, d.Left))/uint64(size) {
		d.Damaged()
	}
	if d.Err != nil {
		return 0
	}
	return int(n)
}

// Blob reads the bytes that Encoder.Blob wrote.
func (d *Decoder) Blob() []byte {
	b := make([]byte, d.Fits(uint64(d.U32()), 1))
	d.Read(b)
	return b
}

// Below reads a number that must be less than n; otherwise the file is damaged.
func (d *Decoder) Below(n uint32) uint32 {
	m := d.U32()
	if m >= n {
		d.Damaged()
		return 0
	}
	return m
}

// Numbers writes the count of the numbers, and then each number.
func (e *Encoder) Numbers(of []uint32) {
	e.U32(uint32(len(of)))
	e.Tuple(of)
}

// Numbers reads the numbers that Encoder.Numbers wrote. The file is damaged if a number is not less than n.
func (d *Decoder) Numbers(n uint32) (out []uint32) {
	for k := d.Fits(uint64(d.U32()), 4); k > 0 && d.Err == nil; k-- {
		out = append(out, d.Below(n))
	}
	return out
}

// Mapping writes a map in the order of its keys.
func (e *Encoder) Mapping(m map[uint32]uint32) {
	e.U32(uint32(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e.Tuple([]uint32{k, m[k]})
	}
}

// Mapping reads into a map what Encoder.Mapping wrote. The keys must be less than n, and the values less than m.
func (d *Decoder) Mapping(into map[uint32]uint32, n, m uint32) {
	for k := d.Fits(uint64(d.U32()), 8); k > 0 && d.Err == nil; k-- {
		from := d.Below(n)
		into[from] = d.Below(m)
	}
}
