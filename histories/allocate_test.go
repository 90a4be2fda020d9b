package histories

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lockproof/lockproof/model/history"
)

// TestAllocations: reading an event of JSON Lines allocates no memory, once the words of the history are known. Reading
// an event of EDN allocates only its inner maps and numbers.
func TestAllocations(t *testing.T) {
	const few, many = 200, 1200
	for form, c := range map[string]struct {
		event string
		most  float64 // most allocations for an event
	}{
		"JSON Lines": {`{"index":%d,"type":"%s","process":1,"f":"verify","lock":"lock","value":{"slot":1,"held":true},"time":%d}` + "\n", 0},
		"EDN":        {`{:index %d, :type :%s, :process 1, :f :verify, :lock "lock", :value {:slot 1, :held true}, :time %d}` + "\n", 5},
	} {
		text := func(events int) string {
			var b strings.Builder
			for i := range events {
				fmt.Fprintf(&b, c.event, i, []string{"invoke", "ok"}[i%2], 1000*i)
			}
			return b.String()
		}
		taken := func(events int) float64 {
			whole := text(events)
			return testing.AllocsPerRun(3, func() {
				in, err := eventsOf(strings.NewReader(whole), "it", Unnamed, nil)
				if err == nil {
					err = in.each(func(*history.Event) error { return nil })
				}
				if err != nil {
					t.Fatal(err)
				}
			})
		}
		if each := (taken(many) - taken(few)) / (many - few); each > c.most+0.1 {
			t.Errorf("%s: %.1f allocations an event, want at most %v", form, each, c.most)
		}
	}
}

// TestLargestForm: an EDN form may have 4 MB and not a byte more, even if the input arrives byte by byte.
func TestLargestForm(t *testing.T) {
	for size, want := range map[int]string{maxForm: "a map of EDN", maxForm + 1: "more than 4 MB"} {
		whole := `"` + strings.Repeat("x", size-2) + `"`
		_, _, err := ReadHistory(iotest.OneByteReader(strings.NewReader(whole)), "large", Unnamed)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %.200v", size, err)
		}
	}
}
