package foreign

import (
	"fmt"
	"time"
)

// Spent is what the time of a [Runner] went into, which does one thing at a time. The rest is its own work.
type Spent struct {
	Started   int // clients
	Starting  time.Duration
	Clients   time.Duration // until clients at work were at the gate, or done
	Waits     int           // for what did not come, to their end
	Waiting   time.Duration
	Resets    time.Duration // between executions: locks are made and destroyed, clients release what they hold
	resetting bool
}

// Add adds what another runner's time went into.
func (p *Spent) Add(o *Spent) {
	p.Started += o.Started
	p.Starting += o.Starting
	p.Clients += o.Clients
	p.Waits += o.Waits
	p.Waiting += o.Waiting
	p.Resets += o.Resets
}

// Words are what it went into, in words.
func (p *Spent) Words() (words []string) {
	said := func(what string, d time.Duration) { words = append(words, what+" "+d.Round(time.Millisecond).String()) }
	said(fmt.Sprintf("clients started: %d,", p.Started), p.Starting)
	said("clients at work", p.Clients)
	said(fmt.Sprintf("waits that ran out: %d,", p.Waits), p.Waiting)
	said("resets between executions", p.Resets)
	return words
}

// Waited takes in how long something was waited for.
func (p *Spent) Waited(d time.Duration, came bool) {
	switch {
	case !came:
		p.Waits++
		p.Waiting += d
	case !p.resetting:
		p.Clients += d
	}
}

// Reset does what is done between executions. Time that is counted elsewhere is not counted here.
func (p *Spent) Reset(do func() error) error {
	if p.resetting {
		return do()
	}
	began, elsewhere := time.Now(), p.Starting+p.Waiting
	p.resetting = true
	err := do()
	p.resetting = false
	p.Resets += time.Since(began) - (p.Starting + p.Waiting - elsewhere)
	return err
}
