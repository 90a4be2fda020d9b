package shares

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
)

// random is a random history of n events, in which clients take shares. Many answers are wrong.
func random(r *rand.Rand, n int, kind lock.Kind) *history.History {
	h := &history.History{Kind: kind, Locks: []string{"jobs"}, Slots: []int{1 + 2*int(kind-lock.Mutex)}}
	if kind == lock.Semaphore {
		h.Slots[0] = 3
	}
	calls, holds := make(map[int32]history.Event), make(map[int32]history.Event)
	for len(h.Events) < n {
		p := int32(1 + r.IntN(3))
		e, calling := calls[p]
		if !calling {
			e = history.Event{Process: p, F: history.F(lock.Acquire)}
			if held, is := holds[p]; is {
				e = held
				e.F, e.Held = history.F(lock.Release), false
			} else if kind == lock.Semaphore {
				e.Permits = uint16(1 + r.IntN(3))
			} else {
				e.Shared = r.IntN(2) == 0
			}
			e.Type = history.Invoke
			calls[p] = e
			h.Events = append(h.Events, e)
			continue
		}
		delete(calls, p)
		e.Type = history.OK
		switch k := r.IntN(8); {
		case k == 0:
			e.Type = history.Info
		case e.F.Op() == lock.Release:
		case k < 3:
			e.Type, e.Reason = history.Fail, lock.Full
		default:
			e.Held = true
			holds[p] = e
		}
		if e.F.Op() == lock.Release {
			delete(holds, p)
		}
		h.Events = append(h.Events, e)
	}
	return h
}

// call is an operation for the search in explained.
type call struct {
	process    int32
	from, to   int
	take, give int
	refused    bool
	maybe      bool // the call has no answer, and may have had no effect
	done       bool
}

// explained reports whether there is an order of all operations in which every answer is right.
func explained(calls []call, held map[int32]int, capacity int) bool {
	first, all, left := 1<<30, 0, false
	for i := range calls {
		if c := &calls[i]; !c.done {
			left = left || !c.maybe
			if !c.maybe {
				first = min(first, c.to)
			}
		}
	}
	for _, n := range held {
		all += n
	}
	if !left {
		return true
	}
	for i := range calls {
		c := &calls[i]
		if c.done || c.from > first {
			continue
		}
		ok := all+c.take <= capacity && held[c.process] >= c.give
		if c.refused {
			ok = all+c.take > capacity
		}
		if !ok {
			continue
		}
		before := held[c.process]
		if !c.refused {
			held[c.process] += c.take - c.give
		}
		c.done = true
		if explained(calls, held, capacity) {
			return true
		}
		c.done, held[c.process] = false, before
	}
	return false
}

// callsOf are the operations of a history, and the number of failed ones.
func callsOf(h *history.History) (calls []call, refusals int) {
	under, sizes := make(map[int32]int), make(map[int32]int)
	j := newJudge(h, linear.Options{}, endingsOf(h), false)
	for i := range h.Events {
		e := &h.Events[i]
		if e.Type == history.Invoke {
			c := call{process: e.Process, from: i, to: 1 << 29, maybe: true}
			if e.F.Op() == lock.Acquire {
				c.take = j.size(e)
				sizes[e.Process] = c.take
			} else {
				c.give = sizes[e.Process]
			}
			under[e.Process] = len(calls)
			calls = append(calls, c)
			continue
		}
		c := &calls[under[e.Process]]
		if e.Type != history.Info {
			c.to, c.maybe = i, false
		}
		if e.Type == history.Fail {
			c.refused = true
			refusals++
		}
	}
	return calls, refusals
}

// TestAgainstSearch compares Check with a search of all orders. Without failed acquires the verdicts are the same. With
// failed acquires, an illegal verdict is always right.
func TestAgainstSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	counts := make(map[string]int)
	for range 4000 {
		kind := []lock.Kind{lock.Mutex, lock.Semaphore}[r.IntN(2)]
		h := random(r, 4+r.IntN(10), kind)
		verdicts, err := Check(h, linear.Options{})
		if err != nil {
			t.Fatal(err)
		}
		calls, refusals := callsOf(h)
		found, ok := verdicts[0], explained(calls, make(map[int32]int), newJudge(h, linear.Options{}, endingsOf(h), false).capacity(0))
		switch legal := found.Decision == linear.Legal; {
		case legal == ok:
			counts[found.Decision.String()]++
		case legal && refusals > 0:
			counts["only together"]++
		default:
			t.Fatalf("%s, but explained: %v: %s\n%+v", found.Decision, ok, found.Why, h.Events)
		}
	}
	if counts[linear.Legal.String()] < 100 || counts[linear.Illegal.String()] < 100 {
		t.Errorf("compared %v", counts)
	}
}

// TestWords: the text of a violation names the client, the share and the event.
func TestWords(t *testing.T) {
	semaphore := &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{3}, Events: []history.Event{
		{Process: 1, F: history.F(lock.Acquire), Permits: 2}, {Process: 1, F: history.F(lock.Acquire), Type: history.OK, Held: true},
		{Process: 2, F: history.F(lock.Acquire), Permits: 2}, {Process: 2, F: history.F(lock.Acquire), Type: history.OK, Held: true},
	}}
	verdicts, err := Check(semaphore, linear.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		if want := "c2 was granted 2 permits at event 3, and 2 of 3 were held"; v.Why != want || v.Event != 3 {
			t.Errorf("%s: %q at event %d, expected %q", v.Property, v.Why, v.Event, want)
		}
	}
	for want, change := range map[string]func(h *history.History, o *linear.Options){
		"expected reject":                            func(_ *history.History, o *linear.Options) { o.Releases = linear.ByAnyone },
		"expected one only of a mutex":               func(h *history.History, _ *linear.Options) { h.Events[0].Shared = true },
		"expected more than one only of a semaphore": func(h *history.History, _ *linear.Options) { h.Kind, h.Slots = lock.Mutex, []int{1} },
		"found verify, expected acquires and releases only": func(h *history.History, _ *linear.Options) {
			h.Events = append(h.Events, history.Event{Process: 1, F: history.F(lock.Verify)})
		},
	} {
		h, o := *semaphore, linear.Options{}
		h.Events = append([]history.Event(nil), h.Events...)
		change(&h, &o)
		if _, err := Check(&h, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

// TestLimits: an acquire with a limit below the lock's size is judged as if the lock had that size.
func TestLimits(t *testing.T) {
	acquire := func(p int32, limit, permits uint16, held bool) []history.Event {
		answer := history.Event{Process: p, F: history.F(lock.Acquire), Type: history.OK, Held: held}
		if !held {
			answer.Type, answer.Reason = history.Fail, lock.Full
		}
		return []history.Event{{Process: p, F: history.F(lock.Acquire), Slots: limit, Permits: permits}, answer}
	}
	for _, c := range []struct {
		events [][]history.Event
		why    string
	}{
		{[][]history.Event{acquire(1, 4, 2, true), acquire(2, 4, 2, true)}, ""},
		{[][]history.Event{acquire(1, 4, 2, true), acquire(2, 3, 2, false)}, ""},
		{[][]history.Event{acquire(1, 4, 2, true), acquire(2, 3, 2, true)}, "c2 was granted 2 permits at event 3, and 2 of 3 were held"},
		{[][]history.Event{acquire(1, 4, 2, true), acquire(2, 3, 1, false)}, "c2 was refused 1 permit at event 3, with 1 of 3 free all the while"},
		{[][]history.Event{acquire(1, 1, 1, true), acquire(2, 4, 3, true)}, ""},
	} {
		h := &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{4}}
		for _, e := range c.events {
			h.Events = append(h.Events, e...)
		}
		verdicts, err := Check(h, linear.Options{})
		if err != nil || verdicts[0].Why != c.why {
			t.Errorf("%v: %q, expected %q", err, verdicts[0].Why, c.why)
		}
	}
}

// TestUnanswered: what an acquire without an answer may have taken, and what a lost connection may have ended.
func TestUnanswered(t *testing.T) {
	type words = []string
	for _, c := range []struct {
		name   string
		kind   lock.Kind
		events words // process, operation, permits or mode, and answer
		why    string
	}{
		{"a release of what an unanswered acquire read", lock.Mutex, words{"1 acquire write ok", "1 release write ok", "1 acquire read info", "1 release - ok"}, ""},
		{"a release of what cannot have been granted", lock.Mutex, words{"1 acquire read ok", "2 acquire write info", "2 release - ok"},
			"c2 gave the lock back at event 5, but its acquire without an answer cannot have been granted: somebody had the lock all the while"},
		{"a release of what may have been granted later", lock.Mutex, words{"1 acquire read ok", "2 acquire write info", "1 release - ok", "2 release - ok"}, ""},
		{"permits that cannot have been granted", lock.Semaphore, words{"1 acquire 2 ok", "2 acquire 2 info", "2 release 2 ok"},
			"c2 gave 2 permits back at event 5, but its acquire without an answer cannot have been granted: too few permits were free all the while"},
		{"permits of two acquires", lock.Semaphore, words{"2 acquire 1 ok", "2 acquire 2 info", "2 release 3 ok"}, ""},
		{"a read-unlock of a writer", lock.Mutex, words{"1 acquire write ok", "1 release read ok"},
			"c1 gave the lock back at event 3 as a reader, but it had it to write"},
		{"a reader that is refused beside a reader", lock.Mutex, words{"1 acquire read ok", "2 acquire read full"},
			"c2 was refused the lock to read at event 3, but nobody had it to write all the while"},
		{"a writer that is refused beside nobody", lock.Mutex, words{"1 acquire read ok", "1 release read ok", "2 acquire write full"},
			"c2 was refused the lock to write at event 5, but nobody had it all the while"},
		{"a writer beside itself", lock.Mutex, words{"1 acquire read ok", "1 acquire write ok"},
			"c1 was granted the lock to write at event 3, but it had it to read: it was granted at event 1 and not given back"},
		{"a lost connection after another's grant", lock.Mutex, words{"1 acquire read ok", "2 acquire write ok", "1 release read disconnected"}, ""},
		{"a crash after another's grant", lock.Mutex, words{"1 acquire read ok", "2 acquire write ok", "1 crash - -"}, ""},
		{"a lost connection after no answer in time after another's grant", lock.Mutex,
			words{"1 acquire read ok", "2 acquire write ok", "1 acquire read timed-out", "1 release read disconnected"}, ""},
		{"a lost connection after an answer after another's grant", lock.Mutex, words{"1 acquire read ok", "2 acquire write ok", "1 acquire read fail", "1 release read disconnected"},
			"c2 was granted the lock to write at event 3, but c1 had it to read: it was granted at event 1 and not given back"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &history.History{Kind: c.kind, Locks: []string{"jobs"}, Slots: []int{1}}
			if c.kind == lock.Semaphore {
				h.Slots[0] = 3
			}
			for _, text := range c.events {
				var process int32
				var op, share, answer string
				if _, err := fmt.Sscan(text, &process, &op, &share, &answer); err != nil {
					t.Fatal(err)
				}
				if op == "crash" {
					h.Events = append(h.Events, history.Occurrence(history.Crash, process))
					continue
				}
				e := history.Event{Process: process, F: history.F(lock.Acquire), Shared: share == "read"}
				if op == "release" {
					e.F = history.F(lock.Release)
				}
				if n, err := strconv.Atoi(share); err == nil {
					e.Permits = uint16(n)
				}
				end := e
				switch answer {
				case "ok":
					end.Type, end.Held = history.OK, op == "acquire"
				case "fail":
					end.Type = history.Fail
				case "full":
					end.Type, end.Reason = history.Fail, lock.Full
				case "timed-out":
					end.Type, end.Reason = history.Fail, lock.TimedOut
				case "disconnected":
					end.Type, end.Reason = history.Info, lock.Disconnected
				default:
					end.Type = history.Info
				}
				h.Events = append(h.Events, e, end)
			}
			verdicts, err := Check(h, linear.Options{})
			if err != nil || verdicts[0].Why != c.why {
				t.Errorf("%v: %q, expected %q", err, verdicts[0].Why, c.why)
			}
		})
	}
}
