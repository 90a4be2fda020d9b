package foreign

import "fmt"

// Uncontrolled counts what clients did outside the control of the schedule.
type Uncontrolled struct {
	// Thought is how often a client with an operation under way sent nothing for longer than [Timing.Patience], because
	// it slept, waited or computed. The others went on without it.
	Thought int
	// Hung is the number of operations that did not end although no other client could go on.
	Hung int
	// Unanswered is the number of commands at the gate without a reply, after which their client may have continued.
	Unanswered int
	// Idle is the number of commands that clients sent between operations.
	Idle int
	// Pipelined is the number of commands that a client sent before the previous one was answered. How many of them are
	// at the gate when the schedule makes a choice is up to the client.
	Pipelined int
	// Connections is the number of additional connections that clients opened while they had one.
	Connections int
	// HungUp is how often a client closed its socket without closing the connection in the protocol.
	HungUp int
	// Died is the number of clients that ended by themselves during a call.
	Died int
	// Unpaused is the number of pauses during which the client itself kept running, because it cannot be paused.
	Unpaused int
	// Unplayed is the number of the schedule's actions that were impossible when it was their turn, or whose moment never
	// came.
	Unplayed int
	// Disagreed is the number of executions in which a real broker behaved differently from the simulated one.
	Disagreed int
	// Absent is the number of acquires of a nonexistent lock that returned an error, without a fault before, so that
	// their outcome is unknown. They do not make an execution doubtful.
	Absent int
}

// Add adds the counts of o.
func (u *Uncontrolled) Add(o Uncontrolled) {
	for i, n := range o.counts() {
		*u.fields()[i] += n
	}
}

// Free reports whether the schedule controlled everything that matters. Pipelined commands and further connections do
// not matter, because such a command still reaches the broker only when the schedule chooses it.
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

// Words describe the counts that are not zero, in words.
func (u *Uncontrolled) Words() (words []string) {
	counts := u.counts()
	for i, said := range uncontrolledWords {
		if counts[i] > 0 {
			words = append(words, fmt.Sprintf("%s: %d", said, counts[i]))
		}
	}
	return words
}

// Reading says how errors about nonexistent locks were interpreted and what clients should return instead; "" if there
// was none.
func (u *Uncontrolled) Reading() string {
	if u.Absent == 0 {
		return ""
	}
	return fmt.Sprintf(`an error as the answer to an acquire of a lock that was never created, or was destroyed (%d times), is an unknown outcome: acquire has to answer {"held":false} then`, u.Absent)
}
