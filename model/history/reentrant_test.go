package history

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/lock"
)

// TestReentrant: of a holder's operations, only the first acquire and the last release stay unchanged. Each word of a
// history is a process, an operation and its answer; "c" is a crash.
func TestReentrant(t *testing.T) {
	ops := map[byte]lock.Op{'a': lock.Acquire, 'r': lock.Release, 'v': lock.Verify}
	types := map[byte]EventType{'+': OK, '-': Fail, '?': Info}
	for _, test := range []struct{ history, want string }{
		{"1a+ 1r+", "1a+ 1r+"},
		{"1a+ 1a+ 1r+ 2a- 1r+ 2a+", "1a+ 1v+ 1v+ 2a- 1r+ 2a+"},
		{"1a+ 1a+ 1a+", "1a+ 1v+ 1a+"},
		{"1a+ 1a- 1r+ 1r+", "1a+ 1a- 1r+ 1r+"},
		{"1a+ 1a? 1r+ 2a+", "1a+ 1a? 1r? 2a+"},
		{"1a+ 1a? 1r+ 1r+ 2a+", "1a+ 1a? 1r? 1r+ 2a+"},
		{"1a? 1a+ 1r+ 1r+", "1a? 1a+ 1r? 1r+"},
		{"1a+ 1a+ 1r? 1r+ 1a+", "1a+ 1v+ 1a- 1r? 1a+"},
		{"1a+ 2a+ 2r+", "1a+ 2a+ 2r+"},
		{"1a+ 1c 1a+", "1a+ 1c 1a+"},
		{"1r+", "1r+"},
		{"1a+ 1v? 2a+ 2r+ 1a+ 1r+", "1a+ 1v? 2a+ 2r+ 1a+ 1r?"},
		{"1a+ 1v- 2a+ 2r+ 1a+ 1r+", "1a+ 1v- 2a+ 2r+ 1a+ 1r?"},
	} {
		h := &History{Kind: lock.Mutex, Locks: []string{"lock"}, Slots: []int{1}}
		for _, word := range strings.Fields(test.history) {
			process := int32(word[0] - '0')
			if word[1] == 'c' {
				h.Events = append(h.Events, Occurrence(Crash, process))
				continue
			}
			e := Event{Process: process, F: F(ops[word[1]])}
			answer := e
			answer.Type = types[word[2]]
			answer.Held = answer.Type == OK && word[1] == 'a'
			h.Events = append(h.Events, e, answer)
		}
		var words []string
		for _, e := range Reentrant(h, 2).Events {
			switch {
			case e.F == Crash:
				words = append(words, string(rune('0'+e.Target))+"c")
			case e.Type != Invoke:
				words = append(words, string(rune('0'+e.Process))+e.F.String()[:1]+map[EventType]string{OK: "+", Fail: "-", Info: "?"}[e.Type])
			}
		}
		if got := strings.Join(words, " "); got != test.want {
			t.Errorf("%s: %s, expected %s", test.history, got, test.want)
		}
	}
}
