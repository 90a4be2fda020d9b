package searchtest

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

	"github.com/lockproof/lockproof/sim/search/states"
)

// Reread has something read of what was written, and reports an error if it is refused or read in part only.
func Reread(t *testing.T, write func(*states.Encoder), read func(*states.Decoder)) error {
	t.Helper()
	var file bytes.Buffer
	e := states.NewEncoder(&file)
	write(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	d := states.NewDecoder(&file, int64(file.Len()-sha256.Size))
	if read(d); d.Err == nil && d.Left != 0 {
		t.Errorf("%d bytes were not read", d.Left)
	}
	return d.Err
}

// CutOff decodes a checkpoint that ends early, or cannot be read further, at many places. A read error is returned as
// it is; a file that ends early is refused.
func CutOff(t *testing.T, name string, file []byte, magic string, decode func(d *states.Decoder) error) {
	t.Helper()
	broken := errors.New("the disk is broken")
	body := file[len(magic) : len(file)-sha256.Size]
	for n := 0; n < len(body); n += 1 + len(body)/150 {
		d := states.NewDecoder(io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(broken)), int64(len(body)))
		if err := decode(d); err != broken {
			t.Fatalf("%s, broken after %d of %d bytes: %v", name, n, len(body), err)
		}
		d = states.NewDecoder(bytes.NewReader(body[:n]), int64(n))
		if err := decode(d); err == nil {
			t.Fatalf("%s: it is read though it ends after %d of %d bytes", name, n, len(body))
		}
	}
}

// Otherwise are parts that are written otherwise.
func Otherwise(p *states.Table) *states.Table {
	other := states.NewTable()
	for id := range p.Len() {
		other.Number(append([]byte(p.Image(id)), 0), func() states.Part { return *p.At(id) })
	}
	return other
}

// PlainSet is a set as a bitset is to be.
type PlainSet map[uint32]bool

// RandomSet are random ones, some of them at the edges of words.
func RandomSet(r *rand.Rand) (b states.Set, set PlainSet) {
	set = make(PlainSet)
	for range r.IntN(6) {
		n := []uint32{0, 1, 62, 63, 64, 65, 127, 128, 191}[r.IntN(9)]
		set[n] = true
		b.Add(n)
	}
	return b, set
}

func (s PlainSet) Sorted() []uint32 { return slices.Sorted(maps.Keys(s)) }

// ErrBroken is the error of a failing disk.
var ErrBroken = errors.New("input/output error")

// Sealed is data with its digest.
func Sealed(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(bytes.Clone(data), sum[:]...)
}
