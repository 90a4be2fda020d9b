package foreign

import (
	"cmp"
	"time"
)

// Timing is how long is waited for clients, where nothing but time tells what they are about to do. No verdict depends on it.
type Timing struct {
	// Patience is how long a client whose operation is under way may send nothing before the others go on
	// without it; 0 is 2 seconds.
	Patience time.Duration
	// Limit is how long an operation may take while nobody else has anything left to do; then it is taken
	// for one that never returns. 0 is 5 seconds.
	Limit time.Duration
	// Start is how long starting a client, or an operation while nobody else is at work, may take; 0 is 30 seconds.
	Start time.Duration
}

// withDefaults is the timing with nothing left out.
func (t Timing) withDefaults() Timing {
	return Timing{
		Patience: cmp.Or(t.Patience, 2*time.Second),
		Limit:    cmp.Or(t.Limit, 5*time.Second),
		Start:    cmp.Or(t.Start, StartLimit),
	}
}
