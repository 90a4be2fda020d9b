package judge_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
)

// TestWordsOfHistory: texts name clients and steps if the history knows them, otherwise processes and events.
func TestWordsOfHistory(t *testing.T) {
	acquire := func(process int32, kind history.EventType) history.Event {
		e := history.Event{Process: process, Type: kind, F: history.F(lock.Acquire)}
		if kind == history.OK {
			e.Held, e.Slot = true, 1
		}
		return e
	}
	h := history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{1}, Events: []history.Event{
		acquire(2, history.Invoke), acquire(2, history.OK), acquire(14, history.Invoke), acquire(14, history.OK),
	}}
	said := func() string {
		var all []string
		verdicts, err := judge.History(&h, linear.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range verdicts {
			all = append(all, v.Why)
		}
		return strings.Join(all, "\n")
	}
	plain := said()
	for _, want := range []string{"c14 was told that it holds slot 1 (event 3), and c2 holds it", "c14 was granted slot 1 (events 2 to 3), but c2 had it: it was granted at event 1"} {
		if !strings.Contains(plain, want) {
			t.Errorf("a plain history says\n%s\nand not %q", plain, want)
		}
	}
	h.Clients, h.Steps = 4, []int32{1, 5, 5, 9}
	h.Events[0].Process, h.Events[1].Process = 3, 3
	drawn := said()
	for _, want := range []string{"c2 was told that it holds slot 1 (step 9), and c3 holds it", "c2 was granted slot 1 (steps 5 to 9), but c3 had it: it was granted at step 5"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("a history of an execution says\n%s\nand not %q", drawn, want)
		}
	}
}

// TestWho: if the number of clients is known, a process has the name of its client.
func TestWho(t *testing.T) {
	for clients, want := range map[int]string{0: "c3", 1: "c1", 2: "c1", 4: "c3"} {
		if got := (&history.History{Clients: clients}).Who(3); got != want {
			t.Errorf("process 3 of %d clients is %s, want %s", clients, got, want)
		}
	}
}
