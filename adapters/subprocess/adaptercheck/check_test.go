//go:build unix

package adaptercheck_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/subprocess/adaptercheck"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/lock"
)

// For adapters with different mistakes, the check prints the expected texts, which are in testdata.
func TestCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out many executions in turn")
	}
	for _, test := range []struct {
		role  string
		kind  lock.Kind
		green bool
	}{
		{"good", lock.Mutex, true},
		{"persistent", lock.PersistentMutex, true},
		{"lasting", lock.PersistentMutex, true},
		{"greedy", lock.Mutex, false},
		{"elsewhere", lock.Mutex, false},
		{"modest", lock.Mutex, true},
		{"for good", lock.Mutex, true},
		{"chatty", lock.Mutex, false},
		{"tidy", lock.Mutex, false},
		{"deaf", lock.Mutex, false},
		{"slow", lock.Mutex, false},
		{"patient", lock.Mutex, false},
		{"accepts everything", lock.Mutex, false},
		{"counts its own grants", lock.Mutex, false},
		{"forgets its tokens", lock.Mutex, false},
		{"good", lock.Semaphore, false},
		{"limited", lock.Semaphore, true},
		{"one at a time", lock.Semaphore, false},
		{"slots", lock.Semaphore, true},
		{"tokens", lock.Semaphore, true},
	} {
		t.Run(test.role+" "+test.kind.String(), func(t *testing.T) {
			var out bytes.Buffer
			p := adaptercheck.Printer{Out: &out}
			c := adaptercheck.Config{Command: command(test.role), Kind: test.kind}
			if test.role == "slow" || test.role == "patient" {
				c.Limit = 2 * time.Second
			}
			green, err := adaptercheck.Run(t.Context(), c, p.Step)
			if err != nil || green != test.green {
				t.Errorf("green %v, expected %v; %v", green, test.green, err)
			}
			p.Sum()
			pinned.Text(t, "testdata/"+strings.ReplaceAll(test.role+" "+test.kind.String(), " ", "-")+".txt", out.String())
		})
	}
}
