package search

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"
)

// reread has something read of what was written, and reports an error if it is refused or read in part only.
func reread(t *testing.T, write func(*encoder), read func(*decoder)) error {
	t.Helper()
	var file bytes.Buffer
	e := newEncoder(&file)
	write(e)
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	d := newDecoder(&file, int64(file.Len()-sha256.Size))
	if read(d); d.err == nil && d.left != 0 {
		t.Errorf("%d bytes were not read", d.left)
	}
	return d.err
}

// cutOff has a checkpoint read of which every so many bytes the rest is missing, or cannot be read: where a file cannot be
// read further, that is the error, whatever is read then; and a file that is cut off, at whatever place, is refused.
func cutOff(t *testing.T, name string, file []byte, magic string, decode func(d *decoder) error) {
	t.Helper()
	broken := errors.New("the disk is broken")
	body := file[len(magic) : len(file)-sha256.Size]
	for n := 0; n < len(body); n += 1 + len(body)/150 {
		d := newDecoder(io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(broken)), int64(len(body)))
		if err := decode(d); err != broken {
			t.Fatalf("%s, broken after %d of %d bytes: %v", name, n, len(body), err)
		}
		d = newDecoder(bytes.NewReader(body[:n]), int64(n))
		if err := decode(d); err == nil {
			t.Fatalf("%s: it is read though it ends after %d of %d bytes", name, n, len(body))
		}
	}
}

// otherwise are parts that are written otherwise.
func otherwise(p *parts) *parts {
	other := newParts()
	for id := range p.count() {
		other.intern(append([]byte(p.image(id)), 0), func() part { return *p.get(id) })
	}
	return other
}

// plainSet is a set as a bitset is to be.
type plainSet map[uint32]bool

// numbers are random ones, some of them at the edges of words.
func numbers(r *rand.Rand) (b bitset, set plainSet) {
	set = make(plainSet)
	for range r.IntN(6) {
		n := []uint32{0, 1, 62, 63, 64, 65, 127, 128, 191}[r.IntN(9)]
		set[n] = true
		b.add(n)
	}
	return b, set
}

func (s plainSet) sorted() []uint32 { return slices.Sorted(maps.Keys(s)) }

// errBroken is what a disk says.
var errBroken = errors.New("input/output error")

// sealed is data with its digest.
func sealed(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(bytes.Clone(data), sum[:]...)
}
