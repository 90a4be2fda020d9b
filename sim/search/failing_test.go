package search

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"testing"
	"unsafe"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search/states"
)

// failing is a file of which one call of Read or Seek fails.
type failing struct {
	io.ReadSeeker
	left  int // number of calls up to and including the one that fails
	calls int
}

func (f *failing) fails() bool {
	f.calls++
	f.left--
	return f.left == 0
}

func (f *failing) Read(b []byte) (int, error) {
	if f.fails() {
		return 0, searchtest.ErrBroken
	}
	return f.ReadSeeker.Read(b)
}

func (f *failing) Seek(offset int64, whence int) (int64, error) {
	if f.fails() {
		return 0, searchtest.ErrBroken
	}
	return f.ReadSeeker.Seek(offset, whence)
}

// TestFailingReads: if any read or seek of a checkpoint fails, resuming fails. If the first bytes cannot be read, the
// error may say that the file is no checkpoint.
func TestFailingReads(t *testing.T) {
	b := standard(1, 1, 0, 1, 0)
	good := written(t, b, Options{})
	try := func(left int) (*failing, error) {
		s := newSearch(context.Background(), b, Options{})
		defer s.seen.free()
		f := &failing{ReadSeeker: bytes.NewReader(good), left: left}
		return f, states.Decode(f, checkpointMagic, errNoCheckpoint, s.decode)
	}
	whole, err := try(-1)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < whole.calls; n++ {
		if _, err := try(n); !errors.Is(err, searchtest.ErrBroken) && !(n == 3 && errors.Is(err, errNoCheckpoint)) && !errors.Is(err, states.ErrDamaged) {
			t.Errorf("call %d of %d: got %v", n, whole.calls, err)
		}
	}
	if _, err := try(1); !errors.Is(err, searchtest.ErrBroken) {
		t.Errorf("the size: got %v", err)
	}
}

// TestDamagedAnywhere changes one byte of a checkpoint and corrects its digest. The file is either refused or can be
// resumed. Nothing panics, and numbers out of range are reported.
func TestDamagedAnywhere(t *testing.T) {
	b := standard(1, 1, 0, 1, 0)
	for _, o := range []Options{{}, {Storage: Exact}, {Storage: Bits, Array: 64}} {
		good := written(t, b, o)
		body := good[:len(good)-sha256.Size]
		refused := 0
		for i := len(checkpointMagic); i < len(body); i += 1 + len(body)/400 {
			bad := bytes.Clone(body)
			bad[i] ^= 0xff
			s := newSearch(context.Background(), b, o)
			if states.Decode(bytes.NewReader(searchtest.Sealed(bad)), checkpointMagic, errNoCheckpoint, s.decode) != nil {
				refused++
			}
			s.seen.free()
		}
		if refused < 200 {
			t.Errorf("%v: of about 400 bytes %d are looked at", o.Storage, refused)
		}
	}
}

// TestStorageNames: the name of each kind of storage parses to this kind; other texts are refused.
func TestStorageNames(t *testing.T) {
	for _, s := range []Storage{Fingerprints, Exact, Bits} {
		text, err := s.MarshalText()
		var read Storage
		if err != nil || string(text) != s.String() || read.UnmarshalText(text) != nil || read != s {
			t.Errorf("%s: %s %v, read as %s", s, text, err, read)
		}
	}
	var s Storage
	if err := s.UnmarshalText([]byte("exac")); err == nil || err.Error() != `storage "exac": expected one of ["fingerprints" "exact" "bits"]` {
		t.Errorf("got %v", err)
	}
}

// TestSizes: the sizes that the memory bound uses equal the sizes of the stored data.
func TestSizes(t *testing.T) {
	f := newFingerprints()
	defer f.free()
	if got := f.size(); got != firstSlots*8 {
		t.Errorf("a table of fingerprints: %d", got)
	}
	for _, c := range []struct{ bytes, want int64 }{{0, DefaultArray}, {-1, DefaultArray}, {1, 8}, {8, 8}, {9, 16}, {4096, 4096}} {
		a := newBitArray(c.bytes, 0)
		if a.size() != c.want || a.hashes != DefaultHashes || a.growing() != 0 {
			t.Errorf("an array of %d bytes: %d, %d hashes, grows by %d", c.bytes, a.size(), a.hashes, a.growing())
		}
		a.free()
	}
	if a := newBitArray(8, 1); a.hashes != 1 {
		t.Errorf("%d hashes", a.hashes)
	}
	e := newExact(newPlan(standard(2, 1, 0, 1, 0), Reductions{}))
	first := int64(len(e.shards) * firstTuples * e.stride * 4)
	if e.size() != first || e.growing() != first/int64(len(e.shards)) {
		t.Errorf("exact: %d, grows by %d", e.size(), e.growing())
	}
	for n := range uint32(10_000) {
		e.add(tuple{n + 1, 1, 1})
	}
	kept := int64(0)
	for i := range e.shards {
		kept += int64(len(e.shards[i].slots)) * 4
		if s := &e.shards[i]; 4*s.n*e.stride > 3*len(s.slots) {
			t.Errorf("shard %d is full: %d of %d", i, s.n, len(s.slots)/e.stride)
		}
	}
	if e.size() != kept || kept <= first {
		t.Errorf("exact, grown: %d, kept are %d", e.size(), kept)
	}
	memoSizes(t)
	if got := blockBytes([][]uint32{make([]uint32, 3, 5), nil, make([]uint32, 0, 2)}); got != 28 {
		t.Errorf("blocks: %d", got)
	}
}

func memoSizes(t *testing.T) {
	var m memo
	if m.size() != 0 {
		t.Errorf("an empty memo: %d", m.size())
	}
	for n := range uint32(3000) {
		m.add(memoKey{own: uint64(n), rest: 7}, n)
	}
	if want := len(m.entries) * int(unsafe.Sizeof(entry{})); m.size() != want || 3*m.n > 2*len(m.entries) || len(m.entries) != 8192 {
		t.Errorf("a memo: %d, want %d, with %d of %d", m.size(), want, m.n, len(m.entries))
	}
	o := other{inert: make([]states.Set, 2)}
	o.set(0, 130, 130)
	o.set(0, 1, 1)
	o.set(1, 64, 64)
	o.set(1, 5, 6)
	if want := o.memo.size() + 8*5; o.size() != want {
		t.Errorf("what others' parts become: %d, want %d", o.size(), want)
	}
}

// TestWeigh: the memory of a worker is the sum of the sizes of its tables.
func TestWeigh(t *testing.T) {
	for _, storage := range []Storage{Fingerprints, Exact} {
		s := newSearch(context.Background(), hasty(), Options{Workers: 1, Storage: storage})
		for s.begin(); s.queued > 0 && s.res.Depth < 30; {
			s.step()
		}
		w := s.workers[0]
		w.weigh()
		want := 2 * len(w.visible) * int(unsafe.Sizeof(uint64(0))) * len(tuple{})
		if (want > 0) != (storage == Exact) {
			t.Errorf("%v: %d bytes of views", storage, want)
		}
		want += 2 * len(w.effects) * int(unsafe.Sizeof(sim.Effect{}))
		want += cap(w.moves)*int(unsafe.Sizeof(w.moves[0])) + cap(w.lists)*int(unsafe.Sizeof(w.lists[0]))
		want += w.table.size() + w.other.size() + w.done.size()
		if w.table.size() == 0 || w.other.size() == 0 || w.done.size() == 0 || w.bytes.Load() != int64(want) {
			t.Errorf("%v: %d, want %d", storage, w.bytes.Load(), want)
		}
		if got, want := s.memory(), s.seen.size()+s.shared.Size()+s.clients.Size()+s.queueBytes.Load()+w.bytes.Load(); got != want {
			t.Errorf("%v: %d altogether, want %d", storage, got, want)
		}
		s.seen.free()
	}
}

// TestPauses: the workers pause only for a checkpoint or a call of Progress. They stop when the context ends or memory
// runs out.
func TestPauses(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		o     Options
		pause bool
		stop  Stop
	}{
		{"nothing", context.Background(), Options{}, false, Finished},
		{"a checkpoint", context.Background(), Options{Checkpoint: t.TempDir() + "/it", Every: 1}, true, Finished},
		{"a checkpoint later", context.Background(), Options{Checkpoint: t.TempDir() + "/it", Every: 1 << 60}, false, Finished},
		{"somebody to tell", context.Background(), Options{Progress: func(*Stats) {}}, true, Finished},
		{"an interrupt", over, Options{}, false, Interrupted},
		{"no memory", context.Background(), Options{Memory: 1}, false, AtMemory},
		{"an interrupt without memory", over, Options{Memory: 1}, false, Interrupted},
	} {
		c.o.Workers = 1
		s := newSearch(c.ctx, hasty(), c.o)
		s.begin()
		s.told = s.told.Add(-2 * TellEvery)
		s.check()
		if got := Stop(s.stop.Load()); s.pause.Load() != c.pause || got != c.stop {
			t.Errorf("%s: pauses %v, stops %d; want %v and %d", c.name, s.pause.Load(), got, c.pause, c.stop)
		}
		s.seen.free()
	}
}
