package linear

import (
	"errors"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

func TestMalformedHistories(t *testing.T) {
	acquire := history.F(lock.Acquire)
	for _, c := range []struct {
		name   string
		events []history.Event
		event  int
		text   string
	}{
		{"a completion first", []history.Event{{Process: 1, Type: history.OK, F: acquire, Held: true}}, 0,
			"event 0: c1's acquire ok: expected an invocation before its completion"},
		{"two invocations", []history.Event{{Process: 1, F: acquire}, {Process: 1, F: acquire}}, 1,
			"event 1: c1's acquire invoke: expected first the completion of its acquire of event 0"},
		{"another operation's completion", []history.Event{{Process: 1, F: acquire}, {Process: 1, Type: history.Fail, F: history.F(lock.Verify)}}, 1,
			"event 1: c1's verify fail: expected first the completion of its acquire of event 0"},
		{"no such lock", []history.Event{{Process: 1, F: acquire, Lock: 3}}, 0, "event 0: lock 3: expected one of the 1 locks"},
		{"no such operation", []history.Event{{Process: 1, F: 40}}, 0, "event 0: number 40: expected an operation or an occurrence"},
		{"no such occurrence", []history.Event{{Process: history.Nemesis, F: 90, Type: history.Info}}, 0, "event 0: number 90: expected an operation or an occurrence"},
		{"an occurrence that is a client's", []history.Event{{Process: 1, F: history.Gone, Type: history.Info}}, 0,
			"event 0: gone by process 1: expected an occurrence to be the nemesis's, and info"},
		{"an operation of the nemesis", []history.Event{{Process: history.Nemesis, F: acquire}}, 0,
			"event 0: acquire by process -1: expected operations to be a client's"},
		{"a yes that is none", []history.Event{{Process: 1, F: acquire}, {Process: 1, F: acquire, Type: history.OK}}, 1,
			"event 1: an acquire that is ok but not held: expected fail, with its reason, where the answer was no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &history.History{Locks: []string{"jobs"}, Slots: []int{1}, Events: c.events}
			var m *Malformed
			if err := Validate(h); !errors.As(err, &m) || m.Event != c.event || m.Error() != c.text {
				t.Errorf("%v, expected %q", err, c.text)
			}
			if f := Check(h, Options{}); f.Decision != Undecided || f.Why != c.text {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestMalformedHistory(t *testing.T) {
	h := &history.History{Locks: []string{"jobs"}}
	if err := Validate(h); err == nil || err.Error() != "1 locks with 0 numbers of slots: expected one number for each lock" {
		t.Error(err)
	}
	h.Slots = []int{-1}
	if err := Validate(h); err == nil || err.Error() != `lock "jobs" has -1 slots: expected 0 to 65535` {
		t.Error(err)
	}
	h.Slots[0] = 2
	if err := Validate(h); err != nil {
		t.Error(err)
	}
}
