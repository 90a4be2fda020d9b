package foreign

import (
	"fmt"
	"time"
)

// Spent says how a [Runner] has spent its time. The runner does one thing at a time. The time that is not listed is its
// own work.
type Spent struct {
	Started   int // number of clients started
	Starting  time.Duration
	Clients   time.Duration // time spent waiting until clients had a command at the gate or were done
	Waits     int           // number of waits that reached their limit
	Waiting   time.Duration
	Resets    time.Duration // time between executions, for example to create and delete locks
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

// Words describe the time spent, in words for reports.
func (p *Spent) Words() (words []string) {
	said := func(what string, d time.Duration) { words = append(words, what+" "+d.Round(time.Millisecond).String()) }
	said(fmt.Sprintf("clients started: %d,", p.Started), p.Starting)
	said("clients at work", p.Clients)
	said(fmt.Sprintf("waits that ran out: %d,", p.Waits), p.Waiting)
	said("resets between executions", p.Resets)
	return words
}

// Waited adds a wait of duration d. came says whether the expected event came.
func (p *Spent) Waited(d time.Duration, came bool) {
	switch {
	case !came:
		p.Waits++
		p.Waiting += d
	case !p.resetting:
		p.Clients += d
	}
}

// Reset calls do, for work between executions, and adds its duration to Resets. It leaves out the time in which do
// starts clients, and waits that reach their limit, as other fields count these.
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
