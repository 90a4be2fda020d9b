package foreign

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/shares"
)

// Clients of some locks take shares: they take a mutex to read, which many may do at once, or several permits of a
// semaphore. Package shares judges such histories. Clients are only asked to acquire and to release. An audit takes a
// mutex to write, and one permit for each client.

// Mode says whether a mutex is taken to read or to write.
type Mode uint8

// The modes. NoMode is used for locks without modes.
const (
	NoMode Mode = iota
	Read
	Write
)

// String is the mode as clients are told it: "read", "write" or "".
func (m Mode) String() string { return [...]string{"", "read", "write"}[m] }

// shares reports whether clients take shares of a lock: a mutex to read, or permits of a semaphore.
func (a *About) shares() bool { return a.Modes || a.Permits }

// Share sets the mode or the permits that an acquire requests, from the scenario's share.
func (a *About) Share(params *Params, share uint8) {
	if a.Modes {
		params.Mode = Write
		if share == scenario.Reading {
			params.Mode = Read
		}
	}
	if a.Permits {
		params.Permits = max(1, min(int(share), params.Limit))
	}
}

// shareOf is event e with the mode and permits of an acquire.
func shareOf(e history.Event, params *Params) history.Event {
	e.Shared, e.Permits = params.Mode == Read, uint16(params.Permits)
	return e
}

// judgeShares judges a history whose clients take shares. Refusals are judged only without faults.
func (r *run) judgeShares(x *Execution, o linear.Options) {
	verdicts, err := shares.Check(&x.History, o)
	if err != nil {
		x.Undecided = err.Error()
		return
	}
	for _, v := range verdicts {
		switch {
		case v.Property == property.Linearizable && (r.befell.faulty() || !r.record.plain()):
			continue
		// For a semaphore, this verdict is about the sum of permits.
		case v.Property == property.MutualExclusion && r.config.Kind == lock.Semaphore:
			v.Property = property.LimitRespected
		}
		r.verdict(x, v)
	}
}
