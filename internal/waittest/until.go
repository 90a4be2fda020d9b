package waittest

import (
	"testing"
	"time"
)

// untilLimit is how long a condition may take to come true on a machine that is busy.
const untilLimit = 2 * time.Minute

// Until waits until something is so, and fails the test if it takes too long.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(untilLimit); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %s still not: %s", untilLimit, what)
		}
	}
}
