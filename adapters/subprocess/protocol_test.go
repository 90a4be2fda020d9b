package subprocess

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/lock"
)

// TestExamples: every example result in the protocol's reference can be decoded, and has no field that is ignored.
func TestExamples(t *testing.T) {
	for _, x := range Examples() {
		if x.Method == Fork {
			continue // the method fork is not an operation
		}
		for _, r := range x.Results {
			data, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if x.Method == "initialize" {
				about, err := aboutOf(data)
				everything := len(about.Operations) == 10 && about.Modes && slices.Contains(about.Operations, lock.Refresh) && about.Leases && about.Waits && about.Tokens && about.Limits && len(about.Locks) == 2
				onSeveral := about.Leases && len(about.Locks) == 1 && len(about.Operations) == 4
				if ofPermits := about.Permits && about.Slotless(); err != nil || !everything && !onSeveral && !ofPermits {
					t.Errorf("%s: %+v %v", data, about, err)
				}
				continue
			}
			op, ok := operationOf(x.Method)
			if !ok {
				t.Fatalf("there is no operation %s", x.Method)
			}
			if _, err := resultOf(op, foreign.Params{Name: "jobs", Slot: 1, Slots: 2}, data); err != nil {
				t.Errorf("%s: %v", x.Method, err)
			}
			if err := json.Unmarshal(data, new(result), json.RejectUnknownMembers(true)); err != nil {
				t.Errorf("%s: %v", x.Method, err)
			}
		}
	}
	if got, want := expected(lock.Acquire), `{"held":true,"slot":n} or {"held":false}`; got != want {
		t.Errorf("an acquire that answers otherwise is told to answer %s, expected %s", got, want)
	}
}

// TestTokenOf: a grant by a client with fencing tokens must have a valid token. Other answers need none.
func TestTokenOf(t *testing.T) {
	for answer, token := range map[string]int64{
		`{"held":true,"slot":1,"token":34}`: 34, `{"held":true,"slot":1,"token":9007199254740991}`: 1<<53 - 1, `{"held":false}`: 0,
		`{"held":true,"slot":1}`: -1, `{"held":true,"slot":1,"token":0}`: -1, `{"held":true,"slot":1,"token":"34"}`: -1,
		`{"held":true,"slot":1,"token":1.5}`: -1, `{"held":true,"slot":1,"token":9007199254740992}`: -1,
	} {
		got, err := TokenOf(lock.Acquire, &Reply{Result: []byte(answer)})
		if err != nil != (token < 0) || err == nil && got != token {
			t.Errorf("%s: %d %v", answer, got, err)
		}
	}
	if got, err := TokenOf(lock.Verify, &Reply{Result: []byte(`{"held":true}`)}); got != 0 || err != nil {
		t.Errorf("a verify has a token: %d %v", got, err)
	}
}
