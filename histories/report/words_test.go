package report

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

// TestRecordedWords: the card of a recorded history does not speak of a broker or queue, since the history does not say
// from which server it is.
func TestRecordedWords(t *testing.T) {
	r := &Report{Mode: Recorded, Target: "mutex", Source: "a.jsonl"}
	for p := range property.Count {
		if property.Recovery.Has(p) || property.Safety.Has(p) {
			r.Properties = append(r.Properties, PropertyResult{Property: p, Checked: 1, Evidence: property.FromTruth})
		}
	}
	var card strings.Builder
	if err := WriteCard(&card, r, style.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"broker", "queue"} {
		if strings.Contains(card.String(), word) {
			t.Errorf("%q is on the card:\n%s", word, &card)
		}
	}
}
