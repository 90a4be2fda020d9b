package anynumber

import (
	"bytes"
	"context"
	"testing"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim/search/states"
)

// TestWrittenAgain reads a checkpoint and writes it again: the bytes are the same.
func TestWrittenAgain(t *testing.T) {
	for _, b := range []Bounds{
		standard(1, 1, 1<<property.MutualExclusion, false), standard(2, 0, property.Applicable(0), true),
	} {
		first := newExploration(context.Background(), b, Options{Workers: 1})
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
		second := newExploration(context.Background(), b, Options{Workers: 1})
		if err := states.Decode(bytes.NewReader(was.Bytes()), magic, errNoCheckpoint, second.decode); err != nil {
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
