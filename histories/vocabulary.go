package histories

import (
	"strings"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// words are the words that a field of a history may have, with their meanings.
type words[T any] struct {
	list     []word[T]
	values   map[string]T // the list as a map, if the list is long; else nil
	expected string       // all words in a sentence, for errors
}

type word[T any] struct {
	text  string
	value T
}

const fewWords = 16

// find is the meaning of a word; false if the word is unknown.
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

// vocabulary makes a list of words. The numbers below count are the meanings, and name is the word for a number;
// numbers without a word are left out.
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

// either joins words for an error message: "a, b or c".
func either(names []string) string {
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " or " + names[n]
	}
	return strings.Join(names, ", ")
}

// or adds a second word for a value. Error messages do not mention it.
func (w words[T]) or(text string, value T) words[T] {
	w.list = append(w.list, word[T]{text, value})
	if w.values != nil {
		w.values[text] = value
	}
	return w
}

// The words that histories may have, including those of Jepsen's tests.
var (
	types   = vocabulary(int(history.Info)+1, history.EventType.String)
	fs      = actions()
	reasons = vocabulary(1<<8, lock.Reason.String).or("timeout", lock.TimedOut)
)

// vocabulary returns the names of the locks as words, each with the lock's index as its meaning.
func (h *Header) vocabulary() words[uint16] {
	return vocabulary(len(h.Locks), func(i uint16) string { return h.Locks[i].Name })
}

// action is the meaning of an event's field f. shared says that the operation is on a lock in read mode.
type action struct {
	f      history.F
	shared bool
}

// actions are the words that the field f may have.
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

// actionsExpected lists the words of the field f for error messages. It leaves out words that only lockproof itself
// writes.
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

// uses are the words of the field mode. The value says whether the lock is in read mode.
var uses = words[bool]{list: []word[bool]{{"read", true}, {"write", false}, {"shared", true}, {"exclusive", false}}, expected: "read or write"}
