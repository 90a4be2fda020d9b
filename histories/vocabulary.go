package histories

import (
	"strings"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// words are the words that a field of a history can have, with their values.
type words[T any] struct {
	list     []word[T]
	values   map[string]T // if there are so many that searching the list takes longer
	expected string       // lists all of them, for errors
}

type word[T any] struct {
	text  string
	value T
}

const fewWords = 16

// find is the value of a word.
func (w *words[T]) find(text []byte) (T, bool) {
	if w.values != nil {
		v, ok := w.values[string(text)]
		return v, ok
	}
	for i := range w.list {
		if w.list[i].text == string(text) {
			return w.list[i].value, true
		}
	}
	var none T
	return none, false
}

// vocabulary makes a word of each number below count that has a name.
func vocabulary[T ~uint8 | ~uint16](count int, name func(T) string) words[T] {
	var w words[T]
	var names []string
	for i := range count {
		if text := name(T(i)); text != "" && text != "none" && text != "unknown" {
			w.list = append(w.list, word[T]{text, T(i)})
			names = append(names, text)
		}
	}
	if len(names) > fewWords {
		w.values = make(map[string]T)
		for _, word := range w.list {
			w.values[word.text] = word.value
		}
	}
	w.expected = either(names)
	return w
}

// either lists the expected words.
func either(names []string) string {
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " or " + names[n]
	}
	return strings.Join(names, ", ")
}

// or adds another word for a value. Errors do not mention it.
func (w words[T]) or(text string, value T) words[T] {
	w.list = append(w.list, word[T]{text, value})
	if w.values != nil {
		w.values[text] = value
	}
	return w
}

// The words of histories, with the words of Jepsen's tests for the same things.
var (
	types   = vocabulary(int(history.Info)+1, history.EventType.String)
	fs      = actions()
	reasons = vocabulary(1<<8, lock.Reason.String).or("timeout", lock.TimedOut)
)

// vocabulary has the names of the locks.
func (h *Header) vocabulary() words[uint16] {
	return vocabulary(len(h.Locks), func(i uint16) string { return h.Locks[i].Name })
}

// action is the meaning of an event's f: an operation or an occurrence, and whether it is of a lock in read mode.
type action struct {
	f      history.F
	shared bool
}

// actions are the words of f.
func actions() words[action] {
	ours := vocabulary(1<<8, history.F.String)
	all := words[action]{values: make(map[string]action), expected: actionsExpected(ours.list)}
	for _, w := range ours.list {
		all.values[w.text] = action{f: w.value}
	}
	for _, op := range []struct {
		op    lock.Op
		words []string
	}{{lock.Acquire, []string{"lock", "acquire"}}, {lock.Release, []string{"unlock", "release"}}} {
		all.values[op.words[0]] = action{f: history.F(op.op)}
		for _, word := range op.words {
			for _, use := range []string{"read", "write"} {
				a := action{f: history.F(op.op), shared: use == "read"}
				all.values[word+"-"+use], all.values[use+"-"+word] = a, a
			}
		}
	}
	return all
}

// actionsExpected lists the words of f for errors: those of the page, without those that only lockproof itself
// records.
func actionsExpected(all []word[history.F]) string {
	var operations, occurrences []string
	for _, w := range all {
		switch {
		case w.text == "connect" || w.value == history.Lost:
		case w.value.Occurrence():
			occurrences = append(occurrences, w.text)
		case w.value.Op() == lock.Acquire:
			operations = append(operations, "acquire", "lock")
		case w.value.Op() == lock.Release:
			operations = append(operations, "release", "unlock")
		default:
			operations = append(operations, w.text)
		}
	}
	return either(operations) + "; or of nemesis " + either(occurrences)
}

// uses are the words of mode: whether a lock is in read mode.
var uses = words[bool]{list: []word[bool]{{"read", true}, {"write", false}, {"shared", true}, {"exclusive", false}}, expected: "read or write"}
