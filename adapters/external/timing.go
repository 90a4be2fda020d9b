package external

import (
	"cmp"
	"time"
)

// Timing is how long is waited for clients, where nothing but time tells what they are about to do. What is waited for
// mostly comes at once; the rest is an option with a default, which a field that is 0 stands for.
type Timing struct {
	// Patience is how long a client whose operation is under way may send nothing before the others go on
	// without it; 0 is 2 seconds.
	Patience time.Duration
	// Limit is how long an operation may take while nobody else has anything left to do; then it is taken
	// for one that never returns. 0 is 5 seconds.
	Limit time.Duration
	// Driver is the same where something has befallen the client: its driver may wait for a reply that cannot come for so long, the
	// first time. 0 is 18 seconds; bunny's limit is 15.
	Driver time.Duration
	// Start is how long an operation outside of a scenario may take; 0 is 30 seconds.
	Start time.Duration
	// Grace is how long is waited for a client that may or may not do something by itself, when it has answered or behind
	// a command without an answer, the first times that it stands there; 0 is 5 milliseconds.
	Grace time.Duration
	// Batch is the same for another message behind one that waits for its confirm; 0 is 2 milliseconds.
	Batch time.Duration
	// Closing is the same for clients that may answer without waiting until something is closed; 0 is 50 milliseconds.
	// If they do and that is missed, it does not show later: their answers come when it is closed.
	Closing time.Duration
	// Habit is how long is waited at least for what clients are known to do; 0 is 50 milliseconds.
	Habit time.Duration
	// Finish is how long is waited at least for an operation that a scenario has left in its midst; 0 is 50 milliseconds.
	Finish time.Duration
	// Revival is how long is waited, once, for a client that has lost its connection to open another one by itself. Drivers that
	// do so try every 5 seconds at the latest, unless they are told otherwise; 0 is 12 seconds.
	Revival time.Duration
	// Recovery is how long a driver may send nothing while it recovers; 0 is 200 milliseconds.
	Recovery time.Duration
	// Slow is how long an operation may take of real time before its client may have given it up by a clock of its own: on
	// a busy machine, or because others were waited for. What such a client does is judged less strictly. 0 is 200
	// milliseconds.
	Slow time.Duration
}

// withDefaults is the timing with nothing left out.
func (t Timing) withDefaults() Timing {
	return Timing{
		Patience: cmp.Or(t.Patience, 2*time.Second),
		Limit:    cmp.Or(t.Limit, 5*time.Second),
		Driver:   cmp.Or(t.Driver, 18*time.Second),
		Start:    cmp.Or(t.Start, StartLimit),
		Grace:    cmp.Or(t.Grace, 5*time.Millisecond),
		Batch:    cmp.Or(t.Batch, 2*time.Millisecond),
		Closing:  cmp.Or(t.Closing, 50*time.Millisecond),
		Habit:    cmp.Or(t.Habit, 50*time.Millisecond),
		Finish:   cmp.Or(t.Finish, 50*time.Millisecond),
		Revival:  cmp.Or(t.Revival, 12*time.Second),
		Recovery: cmp.Or(t.Recovery, 200*time.Millisecond),
		Slow:     cmp.Or(t.Slow, 200*time.Millisecond),
	}
}

// StartLimit is how long starting a client, or an operation outside of a scenario, may take.
const StartLimit = 30 * time.Second
