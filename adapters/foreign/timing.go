package foreign

import (
	"cmp"
	"time"
)

// Timing says how long to wait for clients when only time shows what they are about to do. No verdict depends on it.
type Timing struct {
	// Patience is how long a client with an operation under way may send nothing before the others go on without it; 0 is 2
	// seconds.
	Patience time.Duration
	// Limit is how long an operation may take when no other client has anything left to do. After that it is taken for an
	// operation that never returns. 0 is 5 seconds.
	Limit time.Duration
	// Start is how long starting a client may take, and an operation while no other client is at work; 0 is 30 seconds.
	Start time.Duration
}

// withDefaults is the timing with defaults for the zero fields.
func (t Timing) withDefaults() Timing {
	return Timing{
		Patience: cmp.Or(t.Patience, 2*time.Second),
		Limit:    cmp.Or(t.Limit, 5*time.Second),
		Start:    cmp.Or(t.Start, StartLimit),
	}
}
