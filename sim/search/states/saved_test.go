package states_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/sim/search/states"
)

// TestOpenCloses: Open closes the checkpoint file, whether it is complete or damaged.
func TestOpenCloses(t *testing.T) {
	const files = "/proc/self/fd"
	before, err := os.ReadDir(files)
	if err != nil {
		t.Skip("skipped: no system here tells which files are open")
	}
	path := filepath.Join(t.TempDir(), "checkpoint")
	if err := os.WriteFile(path, []byte("no checkpoint"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := states.Open(path, "magic", io.ErrUnexpectedEOF, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
	if after, err := os.ReadDir(files); err != nil || len(after) > len(before)+10 {
		t.Errorf("%d files are open after %d: %v", len(after), len(before), err)
	}
}

// TestNumbersWithin: a number that is read from a checkpoint must be less than the number of existing elements. The
// shortest possible encoding is accepted.
func TestNumbersWithin(t *testing.T) {
	fits := func(n uint32) bool { return n < 70 }
	for name, c := range map[string]struct {
		write func(e *states.Encoder, n uint32)
		read  func(d *states.Decoder)
	}{
		"a number":     {func(e *states.Encoder, n uint32) { e.U32(n) }, func(d *states.Decoder) { d.Below(70) }},
		"numbers":      {func(e *states.Encoder, n uint32) { e.Numbers([]uint32{3, n}) }, func(d *states.Decoder) { d.Numbers(70) }},
		"one of some":  {func(e *states.Encoder, n uint32) { e.Numbers([]uint32{n}) }, func(d *states.Decoder) { d.Numbers(70) }},
		"a set":        {func(e *states.Encoder, n uint32) { var s states.Set; s.Add(n); s.Save(e) }, func(d *states.Decoder) { states.ReadSet(d, 70) }},
		"keys":         {func(e *states.Encoder, n uint32) { e.Mapping(map[uint32]uint32{n: 1}) }, func(d *states.Decoder) { d.Mapping(make(map[uint32]uint32), 70, 2) }},
		"values":       {func(e *states.Encoder, n uint32) { e.Mapping(map[uint32]uint32{1: n}) }, func(d *states.Decoder) { d.Mapping(make(map[uint32]uint32), 2, 70) }},
		"several keys": {func(e *states.Encoder, n uint32) { e.Mapping(map[uint32]uint32{0: 1, n: 1}) }, func(d *states.Decoder) { d.Mapping(make(map[uint32]uint32), 70, 2) }},
	} {
		for _, n := range []uint32{1, 69, 70, 71} {
			if err := searchtest.Reread(t, func(e *states.Encoder) { c.write(e, n) }, c.read); (err == nil) != fits(n) {
				t.Errorf("%s: %d of 70: %v", name, n, err)
			}
		}
	}
}

// TestDamagedParts: decoding refuses a part or view that occurs twice, and accepts parts with the shortest possible
// encoding.
func TestDamagedParts(t *testing.T) {
	for name, c := range map[string]struct {
		images []string
		ok     bool
	}{
		"none": {nil, true}, "one": {[]string{"a"}, true}, "two": {[]string{"a", "b"}, true}, "twice": {[]string{"a", "a"}, false}, "empty": {[]string{""}, false},
	} {
		p := states.NewTable()
		err := searchtest.Reread(t, func(e *states.Encoder) {
			e.U32(uint32(len(c.images)))
			for i, image := range c.images {
				e.Blob([]byte(image))
				e.U64(0)
				e.Bytes(make([]byte, 2+6))
				e.U32(uint32(i))
			}
		}, p.Restore)
		if (err == nil) != c.ok || c.ok && int(p.Len()) != len(c.images) {
			t.Errorf("parts, %s: %v, %d", name, err, p.Len())
		}
		v := states.NewViews()
		err = searchtest.Reread(t, func(e *states.Encoder) {
			e.U32(uint32(len(c.images)))
			for _, image := range c.images {
				e.Blob([]byte(image))
			}
		}, v.Restore)
		if (err == nil) != (c.ok || name == "empty") {
			t.Errorf("views, %s: %v", name, err)
		}
	}
}

// TestPartsComeBack: parts that are written and read again are the same, in the same order.
func TestPartsComeBack(t *testing.T) {
	p := states.NewTable()
	for i := range 12 {
		d := states.Part{View: uint64(i) << 40, Slots: uint8(i), Role: uint32(3 * i)}
		busy, calm := &d.Foot[0], &d.Foot[1]
		for k, flag := range []*bool{
			&busy.Choosing, &busy.Private, &calm.Choosing, &calm.Private, &d.Unwitnessed, &d.Busy, &d.Holds, &d.Calm, &d.Undisturbed,
		} {
			*flag = i == k || i > 9
		}
		busy.Reads, busy.Writes = backend.Roles(1<<(i%8)), backend.Roles(1<<((i+3)%8))
		calm.Reads, calm.Writes = backend.Roles(1<<((i+1)%8)), backend.Roles(1<<((i+5)%8))
		p.Number([]byte{byte(i), 1}, func() states.Part { return d })
	}
	var out bytes.Buffer
	e := states.NewEncoder(&out)
	p.Save(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	back, d := states.NewTable(), states.NewDecoder(&out, int64(out.Len()-sha256.Size))
	if back.Restore(d); d.Err != nil || d.Left != 0 || back.Len() != p.Len() {
		t.Fatalf("%v, %d bytes left, %d parts", d.Err, d.Left, back.Len())
	}
	for id := range p.Len() {
		if got, want := back.At(id), p.At(id); *got != *want || back.Image(id) != p.Image(id) {
			t.Errorf("part %d is %q, %+v after %q, %+v", id, back.Image(id), *got, p.Image(id), *want)
		}
	}
}

// TestDamagedInside: decoding refuses duplicate, empty or incomplete parts and duplicate views, even if the digest is
// right.
func TestDamagedInside(t *testing.T) {
	write := func(of func(*states.Encoder)) *states.Decoder {
		var out bytes.Buffer
		e := states.NewEncoder(&out)
		of(e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		data := out.Bytes()[:out.Len()-sha256.Size]
		return states.NewDecoder(bytes.NewReader(data), int64(len(data)))
	}
	one := func(e *states.Encoder, image string) {
		e.Blob([]byte(image))
		e.U64(0)
		e.Bytes([]byte{5, 1, 0, 2, 3, 0, 2, 3})
		e.U32(4)
	}
	parts := func(images ...string) func(*states.Encoder) {
		return func(e *states.Encoder) {
			e.U32(uint32(len(images)))
			for _, image := range images {
				one(e, image)
			}
		}
	}
	for name, c := range map[string]struct {
		of    func(*states.Encoder)
		right bool
	}{
		"parts":                {parts("a", "b", "cc"), true},
		"none":                 {parts(), true},
		"twice":                {parts("a", "b", "a"), false},
		"empty":                {parts("abcd", ""), false},
		"more than there are":  {func(e *states.Encoder) { e.U32(2); one(e, "a") }, false},
		"many more than there": {func(e *states.Encoder) { e.U32(1 << 31); one(e, "a") }, false},
	} {
		p := states.NewTable()
		if p.Restore(write(c.of)); (p.Len() > 0) != (c.right && name != "none") && c.right {
			t.Errorf("%s: %d parts", name, p.Len())
		}
		d := write(c.of)
		states.NewTable().Restore(d)
		if (d.Err == nil) != c.right || c.right && d.Left != 0 {
			t.Errorf("parts, %s: %v, %d bytes left", name, d.Err, d.Left)
		}
	}
	for name, c := range map[string]struct {
		Views []string
		right bool
	}{"views": {[]string{"", "a", "b"}, true}, "twice": {[]string{"a", "a"}, false}} {
		d := write(func(e *states.Encoder) {
			e.U32(uint32(len(c.Views)))
			for _, v := range c.Views {
				e.Blob([]byte(v))
			}
		})
		v := states.NewViews()
		if v.Restore(d); (d.Err == nil) != c.right {
			t.Errorf("views, %s: %v", name, d.Err)
		}
	}
}

// TestVerified: Verify checks the whole file and seeks to the first byte after the magic. A file of a few bytes counts
// as damaged.
func TestVerified(t *testing.T) {
	const magic = "magic"
	for n := range 8 {
		data := searchtest.Sealed([]byte(magic + strings.Repeat("x", n)))
		in := bytes.NewReader(data)
		left, err := states.Verify(in, magic, errors.New("another thing"))
		if (err == nil) != (n >= 4) || n < 4 && !errors.Is(err, states.ErrDamaged) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if at := len(data) - in.Len(); err == nil && (left != int64(n) || at != len(magic)) {
			t.Errorf("%d bytes: %d are left from %d on", n, left, at)
		}
	}
}

// broken is a writer that accepts some bytes (left) and then fails.
type broken struct{ left int }

func (w *broken) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, searchtest.ErrBroken
	}
	return len(b), nil
}

// TestFailingWrites: if any write of a checkpoint fails, or if a value cannot be written as JSON, Close returns the
// error.
func TestFailingWrites(t *testing.T) {
	for left := range 2*sha256.Size + 100 {
		e := states.NewEncoder(&broken{left})
		e.U64(1)
		e.Tuple(make([]uint32, 10))
		e.JSON("some")
		size := 8 + 40 + 4 + len(`"some"`) + sha256.Size
		if err := e.Close(); (left < size) != errors.Is(err, searchtest.ErrBroken) || left >= size && err != nil {
			t.Errorf("%d of %d bytes: %v", left, size, err)
		}
	}
	e := states.NewEncoder(io.Discard)
	e.JSON(func() {})
	e.JSON(make(chan int))
	if err, unsupported := e.Close(), (*json.UnsupportedTypeError)(nil); !errors.As(err, &unsupported) || unsupported.Type.String() != "func()" {
		t.Errorf("got %v", err)
	}
}

// TestViewsAreKept: views that are written to a file and read again keep their numbers.
func TestViewsAreKept(t *testing.T) {
	v, read := states.NewViews(), states.NewViews()
	seen := []string{"", "holds 1", "holds 2", "administers"}
	for _, view := range seen {
		v.Number([]byte(view))
	}
	if err := searchtest.Reread(t, v.Save, read.Restore); err != nil {
		t.Fatal(err)
	}
	for i, view := range append(seen, "new") {
		if got := read.Number([]byte(view)); got != uint64(i) {
			t.Errorf("%q is %d, was %d", view, got, i)
		}
	}
}
