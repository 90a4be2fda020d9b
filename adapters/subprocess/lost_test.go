package subprocess

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
)

// TestLost: a notification of a loss is accepted during a call and between calls. Any other message that no call
// asked for is refused.
func TestLost(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","method":"lost","params":{"name":"jobs"}}`:          "",
		`{"jsonrpc":"2.0","method":"lost","params":{"name":"jobs","slot":1}}`: "",
		`{"jsonrpc":"2.0","method":"lost","params":{"name":""}}`:              "expected the lock's name",
		`{"jsonrpc":"2.0","method":"lost"}`:                                   "expected the lock's name",
		`{"jsonrpc":"2.0","method":"lost","id":7,"params":{"name":"jobs"}}`:   "sent a call or notification",
		`{"jsonrpc":"2.0","method":"found","params":{"name":"jobs"}}`:         "sent a call or notification",
		`{"method":"lost","params":{"name":"jobs"}}`:                          `expected "jsonrpc":"2.0"`,
	} {
		for _, during := range []bool{false, true} {
			c := &Client{losses: losses{announced: true}}
			if during {
				c.waiting = make(chan *Reply, 1)
			}
			err := c.take([]byte(line))
			if want == "" && (err != nil || !slices.Equal(c.Lost(), []foreign.Loss{{Name: "jobs", During: during}}) || c.Lost() != nil) {
				t.Errorf("%s: %v, %+v", line, err, c.losses)
			}
			if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, expected %s", line, err, want)
			}
		}
	}
	line := []byte(`{"jsonrpc":"2.0","method":"lost","params":{"name":"jobs"}}`)
	c := new(Client)
	if err := c.take(line); err == nil || !strings.Contains(err.Error(), `"losses":true`) {
		t.Errorf("not announced: %v", err)
	}
	c.losses.announced = true
	for range mostLosses {
		if err := c.take(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.take(line); err == nil {
		t.Error("without end")
	}
}
