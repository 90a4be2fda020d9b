package report

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

// TestEvidenceOfServer: the evidence of a verdict is named after the lock's kind of server. Only the report on a lock
// that uses a broker mentions a broker.
func TestEvidenceOfServer(t *testing.T) {
	for target, server := range map[string]string{"semaphore": "broker", "consul-semaphore": "server", "somebody else's": "broker"} {
		r := &Report{Target: target, Properties: []PropertyResult{{Property: property.NoLeak, Evidence: property.FromTruth, Checked: 1, Scenarios: 1}}}
		var card, junit strings.Builder
		WriteCard(&card, r, style.Style{})
		if err := WriteJUnit(&junit, r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(card.String(), "from "+server+" ") || !strings.Contains(junit.String(), "from the "+server+"'s truth") {
			t.Errorf("%s: expected %q in\n%s\n%s", target, server, card.String(), junit.String())
		}
	}
}
