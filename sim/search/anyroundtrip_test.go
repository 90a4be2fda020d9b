package search

import (
	"bytes"
	"context"
	"testing"

	"github.com/lockproof/lockproof/model/property"
)

// TestAnyWrittenAgain: what is read of a checkpoint and written at once is the same checkpoint.
func TestAnyWrittenAgain(t *testing.T) {
	for _, b := range []AnyBounds{
		anyStandard(1, 1, 1<<property.MutualExclusion, false), anyStandard(2, 0, property.Applicable(0), true),
	} {
		first := newAnySearch(context.Background(), b, AnyOptions{Workers: 1})
		first.workers[0].begin()
		for range 6 {
			first.collect()
			first.round()
		}
		first.collect()
		var was, is bytes.Buffer
		if err := first.encode(&was, []byte("a note")); err != nil {
			t.Fatal(err)
		}
		second := newAnySearch(context.Background(), b, AnyOptions{Workers: 1})
		if err := decoded(bytes.NewReader(was.Bytes()), anyMagic, errNoViews, second.decode); err != nil {
			t.Fatal(err)
		}
		if err := second.encode(&is, []byte("a note")); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(was.Bytes(), is.Bytes()) {
			t.Errorf("%d bytes and then %d, or others", was.Len(), is.Len())
		}
	}
}
