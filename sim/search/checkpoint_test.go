package search

import (
	"bytes"
	"context"
	"crypto/sha256"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search/states"
)

// hasty is a configuration with a bug: its lock grants slots without verifying that they still exist.
func hasty() sim.Bounds {
	b := standard(2, 1, 1, 1, 1)
	b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.VerifyFirst = false })
	return b
}

// same reports how the results of two searches differ, for example of a resumed search (got) and of an uninterrupted
// one (want).
func same(t *testing.T, name string, got, want *Result) {
	t.Helper()
	g, w := got.Stats, want.Stats
	for _, s := range []*Stats{&g, &w} { // these depend on where the search was interrupted
		s.TableBytes, s.QueueBytes, s.PartBytes, s.MoveBytes = 0, 0, 0, 0
	}
	if g != w {
		t.Errorf("%s: %+v\nwant %+v", name, g, w)
	}
	if got.Stop != want.Stop || got.Found != want.Found || got.At != want.At {
		t.Errorf("%s: stopped %d, found %b at %v; want %d, %b at %v", name, got.Stop, got.Found, got.At, want.Stop, want.Found, want.At)
	}
	if !sameCoverage(&got.Coverage, &want.Coverage) {
		t.Errorf("%s: covered %+v, want %+v", name, got.Coverage, want.Coverage)
	}
	if got.Cycles != want.Cycles {
		t.Errorf("%s: %s cycles, want %s", name, got.Cycles, want.Cycles)
	}
	if got.Err != nil {
		t.Errorf("%s: %v", name, got.Err)
	}
}

// sameCoverage reports whether two searches have exercised the same properties, actions, results and replies.
func sameCoverage(a, b *Coverage) bool {
	return a.Exercised == b.Exercised && a.Actions == b.Actions && maps.Equal(a.Results, b.Results) && maps.Equal(a.Replies, b.Replies)
}

// TestResume interrupts a search every few blocks, and resumes it until it ends. The result is that of an uninterrupted
// search.
func TestResume(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out resuming in every way of storage")
	}
	for _, storage := range []Storage{Fingerprints, Exact, Bits} {
		for _, workers := range []int{1, 2} {
			o := Options{Reductions: Reductions{Symmetry: true}, Workers: workers, Storage: storage, Array: 1 << 20}
			want := Run(context.Background(), hasty(), o)
			if want.Found == 0 {
				t.Fatal("nothing is violated")
			}
			for _, blocks := range []int{0, 2, 7, 19} {
				o.Resume = ""
				o.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
				got := Run(searchtest.NewCountdown(blocks), hasty(), o)
				parts := 1
				for ; got.Stop == Interrupted; parts++ {
					o.Resume = o.Checkpoint
					got = Run(searchtest.NewCountdown(4*blocks+9), hasty(), o)
				}
				if parts < 2 {
					t.Errorf("%d blocks: not interrupted", blocks)
				}
				same(t, storage.String(), got, want)
			}
		}
	}
}

// TestResumeBounds ends a search at a bound of depth or memory or at a violation, and resumes it without the bound.
func TestResumeBounds(t *testing.T) {
	want := Run(context.Background(), hasty(), Options{})
	for _, o := range []Options{{Depth: 9}, {Memory: 1}, {First: true}} {
		o.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
		if r := Run(context.Background(), hasty(), o); r.Stop == Finished || r.Err != nil {
			t.Fatalf("stopped %d: %v", r.Stop, r.Err)
		}
		again := o
		again.Resume = o.Checkpoint
		if r := Run(context.Background(), hasty(), again); r.Stop == Finished {
			t.Errorf("%+v: a bound that was reached is reached no more", o)
		}
		same(t, "resumed", Run(context.Background(), hasty(), Options{Resume: o.Checkpoint}), want)
	}
}

// TestCheckpointsOnTheWay writes a checkpoint after every block of states, and resumes from the last one.
func TestCheckpointsOnTheWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	want := Run(context.Background(), hasty(), Options{Workers: 1})
	same(t, "with checkpoints", Run(context.Background(), hasty(), Options{Workers: 1, Checkpoint: path, Every: time.Nanosecond}), want)
	same(t, "from the last", Run(context.Background(), hasty(), Options{Workers: 1, Resume: path}), want)
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("files left behind: %v, %v", left, err)
	}
}

// TestUnwritable searches with a checkpoint file that cannot be written. The search still returns its results, with the
// error.
func TestUnwritable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nowhere", "checkpoint")
	r := Run(context.Background(), hasty(), Options{Depth: 5, Checkpoint: path})
	if r.Stop != AtDepth || r.States == 0 || r.Err == nil || !strings.Contains(r.Err.Error(), path) {
		t.Errorf("stopped %d with %d states: %v", r.Stop, r.States, r.Err)
	}
}

// written returns the checkpoint of a search that ended early, at depth 6.
func written(t testing.TB, b sim.Bounds, o Options) []byte {
	o.Checkpoint, o.Depth = filepath.Join(t.TempDir(), "checkpoint"), 6
	if r := Run(context.Background(), b, o); r.Err != nil {
		t.Fatal(r.Err)
	}
	data, err := os.ReadFile(o.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRefused resumes from files that are not a checkpoint of this search. Each is refused, and the error says why.
func TestRefused(t *testing.T) {
	good := written(t, hasty(), Options{})
	body := good[:len(good)-sha256.Size]
	flipped := bytes.Clone(good)
	flipped[len(good)/2] ^= 4
	newer := bytes.Clone(body)
	newer[len(checkpointMagic)]++
	faults, options, fewer := hasty(), hasty(), hasty()
	faults.Faults.Crashes = 0
	options.Options = amqplock.Table.Edit(options.Options, func(o *amqplock.Options) { o.Overshoot = 1 })
	fewer.Properties = property.Set(0).With(property.MutualExclusion)
	for _, c := range []struct {
		name   string
		data   []byte
		bounds sim.Bounds
		opts   Options
		want   string
	}{
		{"empty", nil, hasty(), Options{}, "not a checkpoint"},
		{"another file", []byte("lockproof history, or so"), hasty(), Options{}, "not a checkpoint"},
		{"the magic alone", []byte(checkpointMagic), hasty(), Options{}, "cut off or damaged"},
		{"cut off", good[:len(good)-1], hasty(), Options{}, "cut off or damaged"},
		{"cut in half", good[:len(good)/2], hasty(), Options{}, "cut off or damaged"},
		{"longer", append(bytes.Clone(good), 0), hasty(), Options{}, "cut off or damaged"},
		{"longer inside", searchtest.Sealed(append(bytes.Clone(body), 0)), hasty(), Options{}, "cut off or damaged"},
		{"a bit flipped", flipped, hasty(), Options{}, "cut off or damaged"},
		{"a newer version", searchtest.Sealed(newer), hasty(), Options{}, "version 5, and this program reads 4"},
		{"other faults", good, faults, Options{}, `another search's: Faults is {"Crashes":1,`},
		{"other options", good, options, Options{}, `Options is {"verify-first":"false"} there`},
		{"other properties", good, fewer, Options{}, `Properties is ["mutual-exclusion",`},
		{"other reductions", good, hasty(), Options{Reductions: Reductions{Symmetry: true}}, "Reductions is "},
		{"another storage", good, hasty(), Options{Storage: Exact}, `Storage is "fingerprints" there and "exact" here`},
	} {
		c.opts.Resume = filepath.Join(t.TempDir(), "checkpoint")
		if err := os.WriteFile(c.opts.Resume, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		r := Run(context.Background(), c.bounds, c.opts)
		if r.Stop != Refused || r.Err == nil || r.States != 0 {
			t.Errorf("%s: stopped %d with %d states: %v", c.name, r.Stop, r.States, r.Err)
			continue
		}
		if msg := r.Err.Error(); !strings.Contains(msg, c.want) || !strings.Contains(msg, c.opts.Resume) {
			t.Errorf("%s: %q does not say %q", c.name, msg, c.want)
		}
	}
	if r := Run(context.Background(), hasty(), Options{Resume: filepath.Join(t.TempDir(), "none")}); r.Stop != Refused || r.Err == nil {
		t.Errorf("a file that is not there: stopped %d, %v", r.Stop, r.Err)
	}
}

// FuzzCheckpoint resumes from damaged checkpoints whose digest is correct.
func FuzzCheckpoint(f *testing.F) {
	b := standard(1, 1, 0, 1, 0)
	storages := []Options{{}, {Storage: Exact}, {Storage: Bits, Array: 64}}
	for i, o := range storages {
		data := written(f, b, o)
		f.Add(uint8(i), data[:len(data)-sha256.Size])
	}
	f.Fuzz(func(t *testing.T, storage uint8, data []byte) {
		o := storages[int(storage)%len(storages)]
		for _, file := range [][]byte{data, searchtest.Sealed(data)} {
			s := newSearch(context.Background(), b, o)
			if err := states.Decode(bytes.NewReader(file), checkpointMagic, errNoCheckpoint, s.decode); err == nil && s.queued < 0 {
				t.Error("states that are fewer than none")
			}
			s.seen.free()
		}
	})
}

// TestResumeLinks: a resumed search has all links between parts, including those observed before the checkpoint.
func TestResumeLinks(t *testing.T) {
	through := func(s *search) links {
		defer s.seen.free()
		for s.queued > 0 {
			s.step()
		}
		return s.links()
	}
	whole := newSearch(context.Background(), hasty(), Options{Workers: 1})
	whole.begin()
	want := len(through(whole))
	o := Options{Workers: 1, Depth: 25, Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
	Run(context.Background(), hasty(), o)
	rest := newSearch(context.Background(), hasty(), Options{Workers: 1})
	if err := rest.resume(o.Checkpoint); err != nil {
		t.Fatal(err)
	}
	if got := len(through(rest)); got != want || len(rest.linked) == 0 {
		t.Errorf("%d links, want %d", got, want)
	}
}
