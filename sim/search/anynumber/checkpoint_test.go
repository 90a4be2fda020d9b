package anynumber

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
	"github.com/lockproof/lockproof/sim/search/states"
)

// same reports how the results of two searches differ: of a resumed search (got) and of an uninterrupted one (want).
func same(t *testing.T, name string, got, want *Result) {
	t.Helper()
	g, w := got.Stats, want.Stats
	g.Rounds, w.Rounds = 0, 0 // an interrupted round counts as two
	if g != w || got.Stop != want.Stop || got.Found != want.Found || got.Solo != want.Solo || got.Err != nil || got.Unsaved != nil {
		t.Errorf("%s: %+v, stopped %d, found %b, %+v, %v, %v\nwant %+v, stopped %d, found %b, %+v",
			name, g, got.Stop, got.Found, got.Solo, got.Err, got.Unsaved, w, want.Stop, want.Found, want.Solo)
	}
	if !reflect.DeepEqual(got.Coverage.Plain(), want.Coverage.Plain()) {
		t.Errorf("%s: covered other endings, replies and actions", name)
	}
}

// hasty is a configuration with a bug: its lock grants slots without verifying that they still exist.
func hasty() Bounds {
	b := standard(1, 1, 1<<property.RemovalDrains, false)
	b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.VerifyFirst = false })
	return b
}

// TestResume interrupts a search every few contexts until it ends. The result must equal that of an uninterrupted
// search.
func TestResume(t *testing.T) {
	violated := hasty()
	whole := standard(1, 1, 1<<property.MutualExclusion, true)
	whole.Whole = true
	restarted := standard(1, 0, 1<<property.SurvivesRestart, true)
	restarted.Faults.Restarts = sim.AnyNumber
	for name, b := range map[string]Bounds{
		"alone":    standard(1, 1, 1<<property.Progress, true),
		"violated": violated, "whole": whole, "restarted": restarted,
	} {
		want := Run(t.Context(), b, Options{Workers: 1})
		cut := want.Cutoff(t.Context(), 2, 10_000)
		for _, workers := range []int{1, 2} {
			if testing.Short() && workers == 1 {
				continue // -short tries only two workers
			}
			o := Options{Workers: workers, Checkpoint: filepath.Join(t.TempDir(), "checkpoint"), Note: []byte("where it was")}
			got := Run(searchtest.NewCountdown(7), b, o)
			parts := 1
			for o.Resume = o.Checkpoint; got.Stop == search.Interrupted; parts++ {
				got = Run(searchtest.NewCountdown(25*parts), b, o)
			}
			if parts < 4 {
				t.Errorf("%s: interrupted %d times", name, parts-1)
			}
			same(t, name, got, want)
			if c := got.Cutoff(t.Context(), 2, 10_000); c != cut {
				t.Errorf("%s: cut-off %+v, want %+v", name, c, cut)
			}
			if note, err := Note(o.Checkpoint); err != nil || string(note) != "where it was" {
				t.Errorf("%s: note %q, %v", name, note, err)
			}
		}
	}
}

// TestResumeBounds resumes searches that ended at a memory bound or at the first violation. Resuming a complete search
// changes nothing.
func TestResumeBounds(t *testing.T) {
	b := hasty()
	want := Run(t.Context(), b, Options{})
	path := filepath.Join(t.TempDir(), "checkpoint")
	for _, o := range []Options{{Memory: 30_000}, {First: true}, {Every: time.Nanosecond}} {
		o.Checkpoint = path
		if r := Run(t.Context(), b, o); r.Stop == search.Finished != (o.Every > 0) || r.Unsaved != nil {
			t.Fatalf("%+v: stopped %d, %v", o, r.Stop, r.Unsaved)
		}
		same(t, "resumed", Run(t.Context(), b, Options{Resume: path}), want)
	}
	if err := want.Save(path, nil); err != nil {
		t.Fatal(err)
	}
	same(t, "closed", Run(searchtest.NewCountdown(0), b, Options{Resume: path}), want)
	nowhere := filepath.Join(t.TempDir(), "nowhere", "checkpoint")
	if r := Run(t.Context(), b, Options{First: true, Checkpoint: nowhere}); r.Stop != search.AtViolation || r.Unsaved == nil || !strings.Contains(r.Unsaved.Error(), nowhere) {
		t.Errorf("stopped %d, %v", r.Stop, r.Unsaved)
	}
}

// written returns the checkpoint of a search that was interrupted.
func written(t testing.TB, b Bounds) []byte {
	o := Options{Workers: 1, Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
	if r := Run(searchtest.NewCountdown(40), b, o); r.Stop != search.Interrupted || r.Unsaved != nil {
		t.Fatalf("stopped %d, %v", r.Stop, r.Unsaved)
	}
	data, err := os.ReadFile(o.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// boundedWritten returns a checkpoint of package search, for the same workloads with a fixed number of clients.
func boundedWritten(t testing.TB, b Bounds) []byte {
	bounded := b.Bounds
	bounded.Clients, bounded.Faults = b.Any, sim.FaultBounds{}
	path := filepath.Join(t.TempDir(), "bounded")
	if r := search.Run(t.Context(), bounded, search.Options{Workers: 1, Depth: 1, Checkpoint: path}); r.Stop != search.AtDepth || r.Err != nil {
		t.Fatalf("stopped %d, %v", r.Stop, r.Err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRefused resumes from files that are not a checkpoint of this search. Each is refused, and the error says why.
func TestRefused(t *testing.T) {
	b := standard(1, 1, 1<<property.MutualExclusion, false)
	good := written(t, b)
	flipped := bytes.Clone(good)
	flipped[len(good)/2] ^= 4
	late, more, slots, whole, named, options, admins := b, b, b, b, b, b, b
	late.Faults.Late = true
	more.Properties |= 1 << property.NoLeak
	slots.Slots = 2
	whole.Whole = true
	named.Named = true
	options.Options = amqplock.Table.Edit(options.Options, func(o *amqplock.Options) { o.Retries++ })
	admins.Any, admins.Clients = append(admins.Any[:1:1], b.Clients...), nil
	for name, c := range map[string]struct {
		data   []byte
		bounds Bounds
		want   string
	}{
		"empty":               {nil, b, "not a checkpoint of a search for any number of clients"},
		"of states":           {boundedWritten(t, b), b, "not a checkpoint of a search for any number of clients"},
		"cut off":             {good[:len(good)-1], b, "cut off or damaged"},
		"longer inside":       {searchtest.Sealed(append(bytes.Clone(good[:len(good)-sha256.Size]), 0)), b, "cut off or damaged"},
		"a bit flipped":       {flipped, b, "cut off or damaged"},
		"other faults":        {good, late, "another search's: Faults is "},
		"other properties":    {good, more, `another search's: Properties is ["mutual-exclusion"] there`},
		"other options":       {good, options, "another search's: Options is "},
		"other slots":         {good, slots, "another search's: Slots is 1 there and 2 here"},
		"whole contexts":      {good, whole, "another search's: Whole is false there"},
		"somebody named":      {good, named, "another search's: Named is false there"},
		"many administrators": {good, admins, "another search's: Any is "},
	} {
		path := filepath.Join(t.TempDir(), "checkpoint")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		r := Run(t.Context(), c.bounds, Options{Resume: path})
		if r.Stop != search.Refused || r.Err == nil || !strings.Contains(r.Err.Error(), c.want) || !strings.Contains(r.Err.Error(), path) {
			t.Errorf("%s: stopped %d, %v, without %q", name, r.Stop, r.Err, c.want)
		}
	}
}

// TestDamaged changes checkpoints and corrects their digest. Resuming refuses such a file or reads it; it never panics.
func TestDamaged(t *testing.T) {
	b := standard(1, 0, 1<<property.NoPhantomSlot, true)
	data := written(t, b)
	data = data[:len(data)-sha256.Size]
	refused, step := 0, len(data)/300
	for at := len(magic); at < len(data); at += step {
		bad := bytes.Clone(data)
		bad[at] ^= 1 << (at % 8)
		s := newExploration(t.Context(), b, Options{Workers: 1})
		if states.Decode(bytes.NewReader(searchtest.Sealed(bad)), magic, errNoCheckpoint, s.decode) != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("everything is taken for a checkpoint")
	}
}
