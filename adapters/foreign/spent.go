package foreign

import (
	"fmt"
	"time"
)

// Spent says how a [Runner], which does one thing at a time, has spent its time. The rest is its own work.
type Spent struct {
	Started   int // number of clients started
	Starting  time.Duration
	Clients   time.Duration // waiting until clients at work were at the gate or done
	Waits     int           // number of waits that ended without result
	Waiting   time.Duration
	Resets    time.Duration // between executions: creating and deleting locks, releasing what clients hold
	resetting bool
}

// Add adds the times of another runner.
func (p *Spent) Add(o *Spent) {
	p.Started += o.Started
	p.Starting += o.Starting
	p.Clients += o.Clients
	p.Waits += o.Waits
	p.Waiting += o.Waiting
	p.Resets += o.Resets
}

// Words describe the times in words.
func (p *Spent) Words() (words []string) {
	said := func(what string, d time.Duration) { words = append(words, what+" "+d.Round(time.Millisecond).String()) }
	said(fmt.Sprintf("clients started: %d,", p.Started), p.Starting)
	said("clients at work", p.Clients)
	said(fmt.Sprintf("waits that ran out: %d,", p.Waits), p.Waiting)
	said("resets between executions", p.Resets)
	return words
}

// Waited adds a wait of d; came says whether what it waited for came.
func (p *Spent) Waited(d time.Duration, came bool) {
	switch {
	case !came:
		p.Waits++
		p.Waiting += d
	case !p.resetting:
		p.Clients += d
	}
}

// Reset does the work between executions and counts its time, without the time that is counted elsewhere.
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
