package foreign

import "fmt"

// Uncontrolled is what clients did that no schedule decided.
type Uncontrolled struct {
	// Thought is how often a client sent nothing for longer than patience while its operation was under
	// way: it sleeps, waits for a message, or computes. The others went on without it.
	Thought int
	// Hung is how many operations never ended, though nobody else had anything left to do.
	Hung int
	// Unanswered is how many commands waited at the gate to which there is no answer, so that their
	// client may have gone on meanwhile.
	Unanswered int
	// Idle is how many commands came from clients that were carrying out no operation.
	Idle int
	// Pipelined is how many commands were sent before the one before was answered: how many of them
	// are at the gate when a choice is made is the client's doing.
	Pipelined int
	// Connections is how many connections clients opened beside one that they had.
	Connections int
	// HungUp is how often a client closed its socket without saying so first.
	HungUp int
	// Died is how many clients ended by themselves.
	Died int
	// Unpaused is how many pauses kept a client's commands at the gate while it was running.
	Unpaused int
	// Unplayed is how many of a schedule's actions were not possible when their turn came.
	Unplayed int
	// Disagreed is how many executions a real broker did something else in than the simulated one.
	Disagreed int
}

// Add adds other counts.
func (u *Uncontrolled) Add(o Uncontrolled) {
	for i, n := range o.counts() {
		*u.fields()[i] += n
	}
}

// Free reports whether the schedule decided everything that was to be decided. A command that is pipelined, or sent on a
// second connection or behind an answer, still reaches the broker when it is chosen.
func (u *Uncontrolled) Free() bool {
	return u.Thought+u.Hung+u.Unanswered+u.Idle+u.HungUp+u.Died+u.Disagreed == 0
}

func (u *Uncontrolled) fields() [11]*int {
	return [11]*int{
		&u.Thought, &u.Hung, &u.Unanswered, &u.Idle, &u.Pipelined, &u.Connections, &u.HungUp, &u.Died, &u.Unpaused, &u.Unplayed, &u.Disagreed,
	}
}

func (u *Uncontrolled) counts() (n [11]int) {
	for i, f := range u.fields() {
		n[i] = *f
	}
	return n
}

var uncontrolledWords = [11]string{
	"clients that sent nothing for longer than patience", "operations that did not end", "commands without an answer",
	"commands outside of operations", "pipelined commands", "further connections", "sockets closed without a goodbye",
	"clients that ended by themselves", "pauses at the gate alone", "actions that were not possible",
	"executions in which the real broker did something else than the simulated one",
}

// Words are the counts that are not zero, in words.
func (u *Uncontrolled) Words() (words []string) {
	for i, n := range u.counts() {
		if n > 0 {
			words = append(words, fmt.Sprintf("%s: %d", uncontrolledWords[i], n))
		}
	}
	return words
}
