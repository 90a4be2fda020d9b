package foreign

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/shares"
)

// With some locks, clients take shares: a mutex to read, which many may hold at once, or several permits of a semaphore.
// Package shares judges such histories. The clients are asked only to acquire and to release. An audit takes a mutex to
// write, and one permit per client.

// Mode says what a mutex is taken for.
type Mode uint8

// The modes.
const (
	NoMode Mode = iota
	Read
	Write
)

// String is the mode in the form that clients are told.
func (m Mode) String() string { return [...]string{"", "read", "write"}[m] }

// shares reports whether clients take shares of a lock.
func (a *About) shares() bool { return a.Modes || a.Permits }

// Share sets, for an acquire, the share of the lock that it takes, at most its limit.
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

// shareOf sets in event e the share that an acquire takes.
func shareOf(e history.Event, params *Params) history.Event {
	e.Shared, e.Permits = params.Mode == Read, uint16(params.Permits)
	return e
}

// judgeShares judges a history whose clients take shares. Refusals are judged in executions without faults.
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
		case v.Property == property.MutualExclusion && r.config.Kind == lock.Semaphore: // the sum of all holds is judged
			v.Property = property.LimitRespected
		}
		r.verdict(x, v)
	}
}
