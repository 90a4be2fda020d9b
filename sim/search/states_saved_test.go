package search

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/backend"
)

// TestNumbersWithin: a number of a checkpoint is less than what there is of its kind, wherever it stands; and what is as
// short as it can be is not taken for cut off.
func TestNumbersWithin(t *testing.T) {
	fits := func(n uint32) bool { return n < 70 }
	for name, c := range map[string]struct {
		write func(e *encoder, n uint32)
		read  func(d *decoder)
	}{
		"a number":     {func(e *encoder, n uint32) { e.u32(n) }, func(d *decoder) { d.below(70) }},
		"numbers":      {func(e *encoder, n uint32) { e.numbers([]uint32{3, n}) }, func(d *decoder) { d.numbers(70) }},
		"one of some":  {func(e *encoder, n uint32) { e.numbers([]uint32{n}) }, func(d *decoder) { d.numbers(70) }},
		"a set":        {func(e *encoder, n uint32) { var s bitset; s.add(n); s.save(e) }, func(d *decoder) { readSet(d, 70) }},
		"keys":         {func(e *encoder, n uint32) { e.mapping(map[uint32]uint32{n: 1}) }, func(d *decoder) { d.mapping(make(map[uint32]uint32), 70, 2) }},
		"values":       {func(e *encoder, n uint32) { e.mapping(map[uint32]uint32{1: n}) }, func(d *decoder) { d.mapping(make(map[uint32]uint32), 2, 70) }},
		"several keys": {func(e *encoder, n uint32) { e.mapping(map[uint32]uint32{0: 1, n: 1}) }, func(d *decoder) { d.mapping(make(map[uint32]uint32), 70, 2) }},
	} {
		for _, n := range []uint32{1, 69, 70, 71} {
			if err := reread(t, func(e *encoder) { c.write(e, n) }, c.read); (err == nil) != fits(n) {
				t.Errorf("%s: %d of 70: %v", name, n, err)
			}
		}
	}
}

// TestDamagedParts: parts and views are each there once, and are read if they are as short as can be.
func TestDamagedParts(t *testing.T) {
	for name, c := range map[string]struct {
		images []string
		ok     bool
	}{
		"none": {nil, true}, "one": {[]string{"a"}, true}, "two": {[]string{"a", "b"}, true}, "twice": {[]string{"a", "a"}, false}, "empty": {[]string{""}, false},
	} {
		p := newParts()
		err := reread(t, func(e *encoder) {
			e.u32(uint32(len(c.images)))
			for i, image := range c.images {
				e.blob([]byte(image))
				e.u64(0)
				e.bytes(make([]byte, 2+6))
				e.u32(uint32(i))
			}
		}, p.restore)
		if (err == nil) != c.ok || c.ok && int(p.count()) != len(c.images) {
			t.Errorf("parts, %s: %v, %d", name, err, p.count())
		}
		v := newViews()
		err = reread(t, func(e *encoder) {
			e.u32(uint32(len(c.images)))
			for _, image := range c.images {
				e.blob([]byte(image))
			}
		}, v.restore)
		if (err == nil) != (c.ok || name == "empty") {
			t.Errorf("views, %s: %v", name, err)
		}
	}
}

// TestPartsComeBack: parts that are written and read are what they were, in the same order.
func TestPartsComeBack(t *testing.T) {
	p := newParts()
	for i := range 12 {
		d := part{view: uint64(i) << 40, slots: uint8(i), role: uint32(3 * i)}
		busy, calm := &d.foot[0], &d.foot[1]
		for k, flag := range []*bool{
			&busy.Choosing, &busy.Private, &calm.Choosing, &calm.Private, &d.unwitnessed, &d.busy, &d.holds, &d.calm, &d.undisturbed,
		} {
			*flag = i == k || i > 9
		}
		busy.Reads, busy.Writes = backend.Roles(1<<(i%8)), backend.Roles(1<<((i+3)%8))
		calm.Reads, calm.Writes = backend.Roles(1<<((i+1)%8)), backend.Roles(1<<((i+5)%8))
		p.intern([]byte{byte(i), 1}, func() part { return d })
	}
	var out bytes.Buffer
	e := newEncoder(&out)
	p.save(e)
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	back, d := newParts(), newDecoder(&out, int64(out.Len()-sha256.Size))
	if back.restore(d); d.err != nil || d.left != 0 || back.count() != p.count() {
		t.Fatalf("%v, %d bytes left, %d parts", d.err, d.left, back.count())
	}
	for id := range p.count() {
		if got, want := back.get(id), p.get(id); *got != *want || back.image(id) != p.image(id) {
			t.Errorf("part %d is %q, %+v after %q, %+v", id, back.image(id), *got, p.image(id), *want)
		}
	}
}

// TestDamagedInside: what the digest does not show is seen where it is read: parts that are there twice, or empty, or
// cut off, and views that are there twice.
func TestDamagedInside(t *testing.T) {
	write := func(of func(*encoder)) *decoder {
		var out bytes.Buffer
		e := newEncoder(&out)
		of(e)
		if err := e.close(); err != nil {
			t.Fatal(err)
		}
		data := out.Bytes()[:out.Len()-sha256.Size]
		return newDecoder(bytes.NewReader(data), int64(len(data)))
	}
	one := func(e *encoder, image string) {
		e.blob([]byte(image))
		e.u64(0)
		e.bytes([]byte{5, 1, 0, 2, 3, 0, 2, 3})
		e.u32(4)
	}
	parts := func(images ...string) func(*encoder) {
		return func(e *encoder) {
			e.u32(uint32(len(images)))
			for _, image := range images {
				one(e, image)
			}
		}
	}
	for name, c := range map[string]struct {
		of    func(*encoder)
		right bool
	}{
		"parts":                {parts("a", "b", "cc"), true},
		"none":                 {parts(), true},
		"twice":                {parts("a", "b", "a"), false},
		"empty":                {parts("abcd", ""), false},
		"more than there are":  {func(e *encoder) { e.u32(2); one(e, "a") }, false},
		"many more than there": {func(e *encoder) { e.u32(1 << 31); one(e, "a") }, false},
	} {
		p := newParts()
		if p.restore(write(c.of)); (p.count() > 0) != (c.right && name != "none") && c.right {
			t.Errorf("%s: %d parts", name, p.count())
		}
		d := write(c.of)
		newParts().restore(d)
		if (d.err == nil) != c.right || c.right && d.left != 0 {
			t.Errorf("parts, %s: %v, %d bytes left", name, d.err, d.left)
		}
	}
	for name, c := range map[string]struct {
		views []string
		right bool
	}{"views": {[]string{"", "a", "b"}, true}, "twice": {[]string{"a", "a"}, false}} {
		d := write(func(e *encoder) {
			e.u32(uint32(len(c.views)))
			for _, v := range c.views {
				e.blob([]byte(v))
			}
		})
		v := newViews()
		if v.restore(d); (d.err == nil) != c.right {
			t.Errorf("views, %s: %v", name, d.err)
		}
	}
}

// TestVerified: what is verified is the whole file, and read from its first byte behind the magic; a file that is a few
// bytes long is damaged.
func TestVerified(t *testing.T) {
	const magic = "magic"
	for n := range 8 {
		data := sealed([]byte(magic + strings.Repeat("x", n)))
		in := bytes.NewReader(data)
		left, err := verify(in, magic, errNoCheckpoint)
		if (err == nil) != (n >= 4) || n < 4 && !errors.Is(err, errDamaged) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if at := len(data) - in.Len(); err == nil && (left != int64(n) || at != len(magic)) {
			t.Errorf("%d bytes: %d are left from %d on", n, left, at)
		}
	}
}

// broken is a file of which a write fails after so many bytes.
type broken struct{ left int }

func (w *broken) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errBroken
	}
	return len(b), nil
}

// TestFailingWrites: whichever write of a checkpoint fails, its end says so; and so does it where something could not be
// written as JSON.
func TestFailingWrites(t *testing.T) {
	for left := range 2*sha256.Size + 100 {
		e := newEncoder(&broken{left})
		e.u64(1)
		e.tuple(make([]uint32, 10))
		e.json("some")
		size := 8 + 40 + 4 + len(`"some"`) + sha256.Size
		if err := e.close(); (left < size) != errors.Is(err, errBroken) || left >= size && err != nil {
			t.Errorf("%d of %d bytes: %v", left, size, err)
		}
	}
	e := newEncoder(io.Discard)
	e.json(func() {})
	e.json(make(chan int))
	if err, unsupported := e.close(), (*json.UnsupportedTypeError)(nil); !errors.As(err, &unsupported) || unsupported.Type.String() != "func()" {
		t.Errorf("got %v", err)
	}
}
