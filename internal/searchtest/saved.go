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

// Reread writes a checkpoint and reads it again. It returns the reader's error; if the reader leaves bytes unread,
// the test fails.
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

// CutOff calls decode with the beginning of a checkpoint, for many different lengths. If reading then fails, decode
// must return the reader's error. If the file then ends, decode must return any error.
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

// Otherwise returns a table with the same parts as p. The encoding of each part has one more byte than in p.
func Otherwise(p *states.Table) *states.Table {
	other := states.NewTable()
	for id := range p.Len() {
		other.Number(append([]byte(p.Image(id)), 0), func() states.Part { return *p.At(id) })
	}
	return other
}

// PlainSet is a simple implementation of a set, for comparison with the bit set.
type PlainSet map[uint32]bool

// RandomSet returns a random set in both implementations. Some elements are at the edges of machine words.
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

// ErrBroken is the error of a disk that fails.
var ErrBroken = errors.New("input/output error")

// Sealed returns data followed by its SHA-256 digest.
func Sealed(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(bytes.Clone(data), sum[:]...)
}
