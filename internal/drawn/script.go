package drawn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Script reads a history from lines of text, one event each:
//
//	c1 acquire            an invocation, with its slot or number if it has one
//	c1 ok acquire 2       a completion; ok of acquire or verify means that the slot is held
//	c1 fail acquire full  a completion with a reason
//	c1 ok verify 2 no     a verify whose result is "not held", without a reason
//	gone c1               an event of a client or of the broker
func Script(t testing.TB, kind lock.Kind, slots int, text string) *history.History {
	t.Helper()
	h := &history.History{Kind: kind, Locks: []string{"jobs"}, Slots: []int{slots}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		e, err := scriptEvent(words)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		e.Time = int64(len(h.Events))
		h.Events = append(h.Events, e)
	}
	return h
}

func scriptEvent(words []string) (e history.Event, err error) {
	if f, ok := history.FNamed(words[0]); ok && f >= history.Crash {
		e = history.Event{Type: history.Info, F: f, Process: history.Nemesis}
		if len(words) > 1 {
			_, err = fmt.Sscanf(words[1], "c%d", &e.Target)
		}
		return e, err
	}
	if _, err = fmt.Sscanf(words[0], "c%d", &e.Process); err != nil {
		return e, err
	}
	words = words[1:]
	if typ, ok := history.EventTypeNamed(words[0]); ok {
		e.Type, words = typ, words[1:]
	}
	op, ok := lock.OpNamed(words[0])
	if !ok {
		return e, fmt.Errorf("no operation %q", words[0])
	}
	e.F = history.F(op)
	no := false
	for _, word := range words[1:] {
		if word == "no" {
			no = true
			continue
		}
		if why, ok := lock.ReasonNamed(word); ok {
			e.Reason = why
			continue
		}
		n := 0
		if _, err = fmt.Sscan(word, &n); err != nil {
			return e, err
		}
		if op == lock.Create || op == lock.Add || op == lock.Remove || op == lock.Count {
			e.Slots = uint16(n)
		} else {
			e.Slot = uint16(n)
		}
	}
	e.Held = e.Type == history.OK && e.Reason == lock.NoReason && !no && (op == lock.Acquire || op.AsksHeld())
	return e, nil
}
