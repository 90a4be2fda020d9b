package foreign

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/shares"
)

// Of some locks clients take shares: a mutex to read, which many may hold at once, or several permits of a semaphore. Package shares
// judges the histories of those. Their clients are asked to acquire and to release, and for nothing else. An audit takes a mutex to
// write, and one permit a client.

// Mode is what a mutex is taken for.
type Mode uint8

// The modes.
const (
	NoMode Mode = iota
	Read
	Write
)

// String is the mode as clients are told it.
func (m Mode) String() string { return [...]string{"", "read", "write"}[m] }

// shares reports whether clients take shares of a lock.
func (a *About) shares() bool { return a.Modes || a.Permits }

// Share tells an acquire which share of the lock it takes, no more than its limit.
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

// shareOf notes in the history which share an acquire takes.
func shareOf(e history.Event, params *Params) history.Event {
	e.Shared, e.Permits = params.Mode == Read, uint16(params.Permits)
	return e
}

// judgeShares judges a history of which clients take shares. Refusals are judged where nothing went wrong.
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
		case v.Property == property.MutualExclusion && r.config.Kind == lock.Semaphore: // what all hold together is judged
			v.Property = property.LimitRespected
		}
		r.verdict(x, v)
	}
}
