package waittest

import (
	"testing"
	"time"
)

// untilLimit is the maximum time for a condition to become true, on a busy machine.
const untilLimit = 2 * time.Minute

// Until calls the function is repeatedly until it returns true. If that takes too long, the test fails with a message
// that contains the text what.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(untilLimit); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %s still not: %s", untilLimit, what)
		}
	}
}
