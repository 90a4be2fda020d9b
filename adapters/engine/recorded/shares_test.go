package recorded_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
)

// TestSharesOfMachines checks that readers and writers are judged across machines. Acquiring several permits at once is
// not, and the error must say so.
func TestSharesOfMachines(t *testing.T) {
	hold := func(f, value string, from, to int) string {
		var b strings.Builder
		for i, at := range []int{from, from + 10, to - 10, to} {
			op, what := "acquire", []string{"invoke", "ok"}[i%2]
			if i > 1 {
				op = "release"
			}
			fmt.Fprintf(&b, `{"type":%q,"process":1,"f":%q,"value":%s,"time":%d}`+"\n", what, op+f, value, 2_000_000_000_000_000_000+at)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, a, b string
		kind       lock.Kind
		want       string
	}{
		{"both read", hold("-read", "null", 0, 1000), hold("-read", "null", 300, 1500), lock.Mutex, "holds"},
		{"one writes", hold("-read", "null", 0, 1000), hold("-write", "null", 300, 1500), lock.Mutex, "violated"},
		{"permits", hold("", `{"permits":2}`, 0, 1000), hold("", "null", 300, 1500), lock.Semaphore, "acquire of 2 permits at once is not judged where clocks differ"},
	} {
		slots := map[lock.Kind]int{lock.Mutex: 1, lock.Semaphore: 2}[c.kind]
		assumed := histories.Header{Kind: c.kind, Locks: []histories.Named{{Name: "jobs", Slots: slots}}}
		m, err := histories.ReadMachines([]histories.InputFile{{Name: "a", In: strings.NewReader(c.a)}, {Name: "b", In: strings.NewReader(c.b)}}, assumed, 100)
		if err != nil {
			t.Fatal(err)
		}
		r, err := recorded.CheckMachines(m, 50*time.Nanosecond, recorded.CheckOptions{Source: "a b"})
		got := fmt.Sprint(err)
		if err == nil {
			got = string(r.Outcome())
			if !strings.Contains(strings.Join(r.Readings, "\n"), "many may hold the lock to read") {
				t.Errorf("%s: read as %q", c.name, r.Readings)
			}
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, expected %s", c.name, got, c.want)
		}
	}
}
