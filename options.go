package lockproof

import (
	"io"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

const (
	None = -1 // for counts in Options whose 0 is the default
	Any  = -2 // number of clients, administrators or faults, for Explore; what is proved then holds for all
)

// Options say on which server a lock is judged, by what and how thoroughly.
type Options struct {
	ServerKind string        // of an external lock: "" and "amqp" are Server, "redis" a server that is started for the run, with a clock of its own
	Servers    int           // how many of those there are, of which none knows of the others; 0 is one
	Server     string        // "" is the simulated broker, "rabbitmq" one that is found, or started if it is installed; or an amqp:// address
	Properties []Property    // to judge; none is all that apply
	Own        []Own         // that are judged as well
	Require    []Property    // that must be judged for the result to hold
	Strict     bool          // an acquire that fails promises that all slots were taken at one moment, not each at some
	First      bool          // end at the first violation
	Seed       uint64        // decides everything that is drawn; 0 is 1
	Executions int           // Prove: 0 is 100,000, or 2,000 if external or in Test. Explore of an external lock: at most; 0 is 10,000
	Simulate   int           // Explore: so many random executions instead of all; 0 is all
	Time       time.Duration // Prove: end earlier; 0 is no limit
	Workers    int           // 0 is one for each processor, and of an Exec's more where its clients wait; clients that share something in one process take 1
	// Clients go through their calls so many Rounds; administrators change the number of Slots. Prove draws what is 0. Explore
	// takes 2 clients, 1 administrator and 2 slots, or 2, none and 1 if external; Stress 5, 1 and 2, for 200 rounds.
	Clients, Admins, Slots, Rounds, After int
	Start                                 []int           // the slots that exist at first, such as 1 and 3; none is 1 to Slots
	From                                  *Counterexample // Explore: begin with its clients, in the state that it is in After so many steps
	Locks                                 []string        // their names, at most two; none is one lock called jobs
	Calls, AdminCalls                     string          // Explore: what one of them calls, such as "acquire,remove:1"
	// Faults: Prove draws what is 0; Explore has one crash then, or none if external, and no other.
	Crashes, Drops, ChannelErrors, Lost int                   // Explore: clients die, connections drop, channels end, replies get lost
	Restarts                            int                   // of the server
	CrashShare                          float64               // Prove, Stress: of operations in which a client dies, from 0 to 1
	Prompt                              bool                  // Explore: the server notices a lost connection at once, not at any later moment
	Depth                               int                   // Explore: end after so many levels; 0 is no bound
	Memory                              int64                 // Explore: end at about so many bytes; 0 is 8 GiB
	Exact                               bool                  // Explore: keep states whole, not as fingerprints
	Checkpoint, Resume                  string                // Explore: files that the search is left in if it ends early, and that it goes on from
	Contract                            string                // the promises that an external lock must keep: guidelines, mutex, semaphore, lease, or some by name; "" is none
	Holding                             string                // what holds an external lock at the broker, such as "queue jobs-{slot}": a wrong belief is found earlier, and pictures show who holds it
	Patience                            time.Duration         // Prove, Explore: how long an external client may send nothing; 0 is 2 s
	Limit                               time.Duration         // how long a call of a Protocol may take, or of an external client in Stress; 0 is 10 s
	Proxy                               bool                  // Stress: external clients go through a proxy, so that more can be judged
	Log, History                        io.Writer             // for external programs' standard error; Stress: for the history, before it is judged
	Found                               func(*Counterexample) // a violation as it is seen, and again when more is known of it
	Progress                            func(done, of int)    // executions, states (of 0) or rounds
}

// or is a number of an option, its default where it is left out.
func or(n, usual int) int {
	switch n {
	case 0:
		return usual
	case None:
		return 0
	case Any:
		return explore.AnyNumber
	}
	return n
}

// check refuses numbers that mean nothing. Any is for Explore alone.
func (o *Options) check() error {
	for _, n := range []struct {
		name string
		n    int
	}{
		{"Clients", o.Clients}, {"Admins", o.Admins}, {"Slots", o.Slots}, {"Rounds", o.Rounds}, {"Crashes", o.Crashes},
		{"Drops", o.Drops}, {"ChannelErrors", o.ChannelErrors}, {"Lost", o.Lost}, {"Restarts", o.Restarts},
	} {
		if n.n < Any {
			return invalid("%s %d: expected a number, None or Any", n.name, n.n)
		}
	}
	switch {
	case o.Executions < 0 || o.Simulate < 0:
		return invalid("Executions %d, Simulate %d: expected at least 1", o.Executions, o.Simulate)
	case o.Workers < 0:
		return invalid("Workers %d: expected at least 1", o.Workers)
	case o.Time < 0 || o.Patience < 0 || o.Limit < 0:
		return invalid("a time below 0: expected more than nothing")
	case o.Slots == Any || o.Rounds == Any:
		return invalid("any number of slots or rounds: expected a number; any number of clients or administrators goes on for ever")
	}
	return nil
}

// shape is what of the workload is not drawn.
func (o *Options) shape() (sim.Shape, error) {
	var s sim.Shape
	for _, n := range []struct {
		from int
		to   **int
	}{
		{o.Clients, &s.Clients}, {o.Admins, &s.Admins}, {o.Slots, &s.Slots}, {o.Rounds, &s.Rounds}, {o.Restarts, &s.Restarts},
	} {
		if n.from == Any {
			return s, invalid("any number of clients, administrators or faults: only Explore has it")
		}
		if n.from != 0 {
			value := or(n.from, 0)
			*n.to = &value
		}
	}
	if share := o.CrashShare; share != 0 {
		share = max(share, 0)
		s.CrashShare = &share
	}
	var err error
	s.Start, err = o.start()
	return s, err
}

// holding is how the server shows who holds an external lock, if that is said.
func (o *Options) holding() (holding.Declared, error) {
	d, err := holding.Parse(o.Holding)
	return d, asInvalid(err)
}

// demands are the promises that an external lock must keep.
func (o *Options) demands() (property.Set, error) {
	demands, err := property.ParseContract(o.Contract)
	return demands, asInvalid(err)
}

// start is the slots that exist at first, where they are not 1 to Slots.
func (o *Options) start() (set scenario.SlotSet, err error) {
	for _, slot := range o.Start {
		if slot < 1 || slot >= monitor.Slots {
			return 0, invalid("slot %d to begin with: expected 1 to %d", slot, monitor.Slots-1)
		}
		set |= 1 << slot
	}
	if set != 0 && o.Slots != 0 {
		return 0, invalid("slots %s to begin with, and a number of them: expected one of the two", set)
	}
	return set, nil
}

// load is how much is done to a server under stress by clients of a lock type.
func (o *Options) load(kind lock.Kind) (stress.Load, error) {
	if _, err := o.shape(); err != nil {
		return stress.Load{}, err
	}
	l := stress.Load{
		Slots: or(o.Slots, 2), Clients: or(o.Clients, 5), Admins: or(o.Admins, 1), Rounds: or(o.Rounds, 200), Verifies: 2,
		CrashShare: 0.02, Seed: o.seed(),
	}
	if share := o.CrashShare; share != 0 {
		l.CrashShare = max(share, 0)
	}
	fit := l.Fit(kind)
	if o.Slots != 0 {
		fit.Slots = l.Slots
	}
	if o.Admins != 0 {
		fit.Admins = l.Admins
	}
	fit.Progress = o.Progress
	return fit, asInvalid(fit.Check(kind))
}

// exploration is the workload and the faults to explore.
func (o *Options) exploration() (e explore.Exploration, err error) {
	e = explore.Exploration{
		Clients: or(o.Clients, 2), Rounds: or(o.Rounds, 1), Admins: or(o.Admins, 1), Slots: or(o.Slots, 2), Names: o.Locks,
		FailedAcquire: o.failedAcquire(), Walks: o.Simulate, Seed: o.seed(),
	}
	crashes, any := 1, e.Clients == explore.AnyNumber || e.Admins == explore.AnyNumber
	if any {
		crashes = explore.AnyNumber
	} else if slices.Contains([]int{o.Crashes, o.Drops, o.ChannelErrors, o.Lost, o.Restarts}, Any) {
		return e, invalid("any number of faults: expected a number, or any number of clients")
	}
	e.Faults = sim.FaultBounds{
		Crashes: or(o.Crashes, crashes), Drops: or(o.Drops, 0), ChannelErrors: or(o.ChannelErrors, 0), Lost: or(o.Lost, 0),
		Restarts: or(o.Restarts, 0), Late: !o.Prompt,
	}
	if e.Start, err = o.start(); err != nil {
		return e, err
	}
	if err = o.from(&e); err != nil {
		return e, err
	}
	if e.Calls, err = explore.ParseCalls(o.Calls); err != nil {
		return e, invalid("calls %w", err)
	}
	if e.AdminCalls, err = explore.ParseCalls(o.AdminCalls); err != nil {
		return e, invalid("calls of administrators %w", err)
	}
	return e, nil
}

// from is where an exploration begins that goes on from a counterexample.
func (o *Options) from(e *explore.Exploration) error {
	switch {
	case o.From == nil && o.After == 0:
		return nil
	case o.From == nil:
		return invalid("step %d to begin after, and no counterexample: expected From", o.After)
	case o.From.file == nil || o.From.file.Exec != "":
		return invalid("a counterexample of %s to begin in: expected one of a lock that is simulated", o.From.Name)
	case o.Clients|o.Admins|o.Slots != 0:
		return invalid("a counterexample to begin in, and a number of clients, administrators or slots: expected none, as they are its own")
	}
	e.From, e.After = &o.From.file.Scenario, o.After
	return nil
}

// search is how states are visited.
func (o *Options) search() search.Options {
	s := search.Options{
		Workers: o.Workers, Depth: o.Depth, Memory: o.Memory, First: o.First, Reductions: search.AllReductions,
		Checkpoint: o.Checkpoint, Resume: o.Resume,
	}
	if s.Memory == 0 {
		s.Memory = 8 << 30
	}
	if o.Exact {
		s.Storage = search.Exact
	}
	if o.Progress != nil {
		s.Progress = func(s *search.Stats) { o.Progress(int(s.States), 0) }
	}
	return s
}

func (o *Options) seed() uint64 { return max(1, o.Seed) }

func (o *Options) failedAcquire() property.FailedAcquire {
	if o.Strict {
		return property.Strong
	}
	return property.Weak
}
