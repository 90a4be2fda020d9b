package foreign

import (
	"cmp"
	"time"
)

// Timing says how long to wait for clients if only time can show what they do. No verdict depends on it.
type Timing struct {
	// Patience is how long a client with an operation under way may send nothing before the others go on without it. 0
	// means 2 seconds.
	Patience time.Duration
	// Limit is how long an operation may take when no other client can go on. After that it counts as an operation that
	// never returns. 0 means 5 seconds.
	Limit time.Duration
	// Start is the maximum time to start a client, and for an operation outside of a scenario. 0 means 30 seconds.
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
