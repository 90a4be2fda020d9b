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
	// Absent is how many acquires of a lock that was not there were answered with an error, before anything had gone
	// wrong, so that it is not known what came of them. They are no reason to doubt an execution.
	Absent int
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

func (u *Uncontrolled) fields() [12]*int {
	return [12]*int{
		&u.Thought, &u.Hung, &u.Unanswered, &u.Idle, &u.Pipelined, &u.Connections, &u.HungUp, &u.Died, &u.Unpaused, &u.Unplayed, &u.Disagreed, &u.Absent,
	}
}

func (u *Uncontrolled) counts() (n [12]int) {
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

// Words are the counts of what no schedule decided that are not zero, in words.
func (u *Uncontrolled) Words() (words []string) {
	counts := u.counts()
	for i, said := range uncontrolledWords {
		if counts[i] > 0 {
			words = append(words, fmt.Sprintf("%s: %d", said, counts[i]))
		}
	}
	return words
}

// Reading says how errors were read where the lock was not there, and what to answer instead; "" where there was none.
func (u *Uncontrolled) Reading() string {
	if u.Absent == 0 {
		return ""
	}
	return fmt.Sprintf(`an error as the answer to an acquire of a lock that was never created, or was destroyed (%d times), is an unknown outcome: acquire has to answer {"held":false} then`, u.Absent)
}
