package foreign

import "fmt"

// Uncontrolled counts what clients did that no schedule decided.
type Uncontrolled struct {
	// Thought is how often a client with an operation under way sent nothing for longer than patience: it sleeps, waits for
	// a message, or computes. The others went on without it.
	Thought int
	// Hung is the number of operations that never ended, although no other client had anything left to do.
	Hung int
	// Unanswered is the number of commands at the gate that have no reply, so that their client may have gone on meanwhile.
	Unanswered int
	// Idle is the number of commands from clients without an operation under way.
	Idle int
	// Pipelined is the number of commands that were sent before the previous one was answered. The client decides how many
	// of them are at the gate when a choice is made.
	Pipelined int
	// Connections is the number of connections that clients opened in addition to an existing one.
	Connections int
	// HungUp is how often a client closed its socket without closing the connection in the protocol first.
	HungUp int
	// Died is the number of clients that ended by themselves.
	Died int
	// Unpaused is the number of pauses that kept a client's commands at the gate while the client itself was running.
	Unpaused int
	// Unplayed is the number of a schedule's actions that were not possible at their turn.
	Unplayed int
	// Disagreed is the number of executions in which a real broker behaved differently from the simulated one.
	Disagreed int
	// Absent is the number of acquires of a nonexistent lock that were answered with an error before anything had gone
	// wrong, so that their outcome is unknown. They are no reason to doubt an execution.
	Absent int
}

// Add adds other counts.
func (u *Uncontrolled) Add(o Uncontrolled) {
	for i, n := range o.counts() {
		*u.fields()[i] += n
	}
}

// Free reports whether the schedule decided everything that it should. A command that is pipelined, sent on a second
// connection, or sent behind an answer still reaches the broker when it is chosen.
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

// Words describe the nonzero counts of what no schedule decided, in words.
func (u *Uncontrolled) Words() (words []string) {
	counts := u.counts()
	for i, said := range uncontrolledWords {
		if counts[i] > 0 {
			words = append(words, fmt.Sprintf("%s: %d", said, counts[i]))
		}
	}
	return words
}

// Reading says how errors about nonexistent locks were interpreted, and what clients should answer instead; "" if there were
// none.
func (u *Uncontrolled) Reading() string {
	if u.Absent == 0 {
		return ""
	}
	return fmt.Sprintf(`an error as the answer to an acquire of a lock that was never created, or was destroyed (%d times), is an unknown outcome: acquire has to answer {"held":false} then`, u.Absent)
}
