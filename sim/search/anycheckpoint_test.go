package search

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search/searchtest"
)

// sameAny reports how a search that was resumed differs from one that was not.
func sameAny(t *testing.T, name string, got, want *AnyResult) {
	t.Helper()
	g, w := got.AnyStats, want.AnyStats
	g.Rounds, w.Rounds = 0, 0 // a round that was interrupted takes two
	if g != w || got.Stop != want.Stop || got.Found != want.Found || got.Solo != want.Solo || got.Err != nil || got.Unsaved != nil {
		t.Errorf("%s: %+v, stopped %d, found %b, %+v, %v, %v\nwant %+v, stopped %d, found %b, %+v",
			name, g, got.Stop, got.Found, got.Solo, got.Err, got.Unsaved, w, want.Stop, want.Found, want.Solo)
	}
	if !sameCoverage(&got.Coverage, &want.Coverage) {
		t.Errorf("%s: covered other endings, replies and actions", name)
	}
}

// hastyAny violates something: slots that are gone are granted.
func hastyAny() AnyBounds {
	b := anyStandard(1, 1, 1<<property.RemovalDrains, false)
	b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.VerifyFirst = false })
	return b
}

// TestAnyResume interrupts a search after every so many contexts, until it is through: nothing is lost, and what it comes
// to is what a search comes to that was not interrupted.
func TestAnyResume(t *testing.T) {
	violated := hastyAny()
	whole := anyStandard(1, 1, 1<<property.MutualExclusion, true)
	whole.Whole = true
	restarted := anyStandard(1, 0, 1<<property.SurvivesRestart, true)
	restarted.Faults.Restarts = sim.AnyNumber
	for name, b := range map[string]AnyBounds{
		"alone":    anyStandard(1, 1, 1<<property.Progress, true),
		"violated": violated, "whole": whole, "restarted": restarted,
	} {
		want := RunAny(t.Context(), b, AnyOptions{Workers: 1})
		cut := want.Cutoff(t.Context(), 2, 10_000)
		for _, workers := range []int{1, 2} {
			if testing.Short() && workers == 1 {
				continue // it is what the others are compared with, uninterrupted
			}
			o := AnyOptions{Workers: workers, Checkpoint: filepath.Join(t.TempDir(), "checkpoint"), Note: []byte("where it was")}
			got := RunAny(searchtest.NewCountdown(7), b, o)
			parts := 1
			for o.Resume = o.Checkpoint; got.Stop == Interrupted; parts++ {
				got = RunAny(searchtest.NewCountdown(25*parts), b, o)
			}
			if parts < 4 {
				t.Errorf("%s: interrupted %d times", name, parts-1)
			}
			sameAny(t, name, got, want)
			if c := got.Cutoff(t.Context(), 2, 10_000); c != cut {
				t.Errorf("%s: cut-off %+v, want %+v", name, c, cut)
			}
			if note, err := AnyNote(o.Checkpoint); err != nil || string(note) != "where it was" {
				t.Errorf("%s: note %q, %v", name, note, err)
			}
		}
	}
}

// TestAnyResumeBounds: a search goes on from where a bound of memory or the first violation ended it, and one that is
// closed stays as it is.
func TestAnyResumeBounds(t *testing.T) {
	b := hastyAny()
	want := RunAny(t.Context(), b, AnyOptions{})
	path := filepath.Join(t.TempDir(), "checkpoint")
	for _, o := range []AnyOptions{{Memory: 30_000}, {First: true}, {Every: time.Nanosecond}} {
		o.Checkpoint = path
		if r := RunAny(t.Context(), b, o); r.Stop == Finished != (o.Every > 0) || r.Unsaved != nil {
			t.Fatalf("%+v: stopped %d, %v", o, r.Stop, r.Unsaved)
		}
		sameAny(t, "resumed", RunAny(t.Context(), b, AnyOptions{Resume: path}), want)
	}
	if err := want.Save(path, nil); err != nil {
		t.Fatal(err)
	}
	sameAny(t, "closed", RunAny(searchtest.NewCountdown(0), b, AnyOptions{Resume: path}), want)
	nowhere := filepath.Join(t.TempDir(), "nowhere", "checkpoint")
	if r := RunAny(t.Context(), b, AnyOptions{First: true, Checkpoint: nowhere}); r.Stop != AtViolation || r.Unsaved == nil || !strings.Contains(r.Unsaved.Error(), nowhere) {
		t.Errorf("stopped %d, %v", r.Stop, r.Unsaved)
	}
}

// anyWritten is a checkpoint of a search that was interrupted.
func anyWritten(t testing.TB, b AnyBounds) []byte {
	o := AnyOptions{Workers: 1, Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
	if r := RunAny(searchtest.NewCountdown(40), b, o); r.Stop != Interrupted || r.Unsaved != nil {
		t.Fatalf("stopped %d, %v", r.Stop, r.Unsaved)
	}
	data, err := os.ReadFile(o.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAnyRefused: what is no checkpoint of this search is refused, with what is wrong.
func TestAnyRefused(t *testing.T) {
	b := anyStandard(1, 1, 1<<property.MutualExclusion, false)
	good := anyWritten(t, b)
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
		bounds AnyBounds
		want   string
	}{
		"empty":               {nil, b, "not a checkpoint of a search for any number of clients"},
		"of states":           {written(t, hasty(), Options{}), b, "not a checkpoint of a search for any number of clients"},
		"cut off":             {good[:len(good)-1], b, "cut off or damaged"},
		"longer inside":       {sealed(append(bytes.Clone(good[:len(good)-sha256.Size]), 0)), b, "cut off or damaged"},
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
		r := RunAny(t.Context(), c.bounds, AnyOptions{Resume: path})
		if r.Stop != Refused || r.Err == nil || !strings.Contains(r.Err.Error(), c.want) || !strings.Contains(r.Err.Error(), path) {
			t.Errorf("%s: stopped %d, %v, without %q", name, r.Stop, r.Err, c.want)
		}
	}
}

// TestAnyDamaged: a file that is damaged in a way that the digest does not show is refused, or read; nothing worse.
func TestAnyDamaged(t *testing.T) {
	b := anyStandard(1, 0, 1<<property.NoPhantomSlot, true)
	data := anyWritten(t, b)
	data = data[:len(data)-sha256.Size]
	refused, step := 0, len(data)/300
	for at := len(anyMagic); at < len(data); at += step {
		bad := bytes.Clone(data)
		bad[at] ^= 1 << (at % 8)
		s := newAnySearch(t.Context(), b, AnyOptions{Workers: 1})
		if decoded(bytes.NewReader(sealed(bad)), anyMagic, errNoViews, s.decode) != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("everything is taken for a checkpoint")
	}
}
