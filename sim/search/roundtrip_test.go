package search

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/sim/search/states"
)

// TestWrittenAgain reads a checkpoint and writes it again: the bytes are the same.
func TestWrittenAgain(t *testing.T) {
	for _, o := range []Options{{Workers: 1}, {Workers: 1, Storage: Exact}, {Workers: 1, Storage: Bits, Array: 1 << 12}, {Workers: 1, Reductions: AllReductions}} {
		first := newSearch(context.Background(), hasty(), o)
		for first.begin(); first.res.Depth < 14; {
			first.step()
		}
		var was, is bytes.Buffer
		if err := first.encode(&was); err != nil {
			t.Fatal(err)
		}
		second := newSearch(context.Background(), hasty(), o)
		if err := states.Decode(bytes.NewReader(was.Bytes()), checkpointMagic, errNoCheckpoint, second.decode); err != nil {
			t.Fatal(err)
		}
		if err := second.encode(&is); err != nil {
			t.Fatal(err)
		}
		same := bytes.Equal(was.Bytes(), is.Bytes())
		if o.Storage == Exact { // states that collide in a hash table may change places
			same = was.Len() == is.Len()
		}
		if !same {
			t.Errorf("%v: %d bytes and then %d, or others", o.Storage, was.Len(), is.Len())
		}
		for _, s := range []*search{first, second} {
			s.seen.free()
		}
	}
}

// TestResumeOwn resumes a search for custom properties. It keeps the levels of earlier violations. A checkpoint of a
// search for other custom properties is refused.
func TestResumeOwn(t *testing.T) {
	b := hasty()
	b.Own = own.List{{Name: "nobody-believes", Look: func(v own.View) (bool, string) { return v.Clients[0].Believes > 0, "" }}}
	b.Properties |= b.Own.All()
	want := Run(context.Background(), b, Options{Workers: 1})
	at := want.At[own.ID(0)]
	if at == 0 || !want.Found.Has(own.ID(0)) {
		t.Fatalf("found %b at %v", want.Found, want.At)
	}
	o := Options{Workers: 1, Depth: at + 1, Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
	Run(context.Background(), b, o)
	if got := Run(context.Background(), b, Options{Workers: 1, Resume: o.Checkpoint}); got.At != want.At || got.Found != want.Found {
		t.Errorf("%b at %v, want %b at %v", got.Found, got.At, want.Found, want.At)
	}
	other := b
	other.Own = own.List{{Name: "other", Look: b.Own[0].Look}}
	forever, every := b, b
	forever.Forever, every.Every = true, true
	for name, b := range map[string]struct {
		r    *Result
		want string
	}{
		"another property": {Run(context.Background(), other, Options{Workers: 1, Resume: o.Checkpoint}), "Own is "},
		"for ever":         {Run(context.Background(), forever, Options{Workers: 1, Resume: o.Checkpoint}), "Forever is "},
		"every way to die": {Run(context.Background(), every, Options{Workers: 1, Resume: o.Checkpoint}), "Every is "},
	} {
		if b.r.Stop != Refused || b.r.Err == nil || !strings.Contains(b.r.Err.Error(), b.want) {
			t.Errorf("%s: stopped %d, %v", name, b.r.Stop, b.r.Err)
		}
	}
}
