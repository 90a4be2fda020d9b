package lockproof

import (
	"io"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

const (
	None = -1 // means 0, for numbers whose 0 means the default
	Any  = -2 // in Bounds, any number of clients, administrators or faults: a proof then holds for every number
)

// Options say on which server a lock is judged, and against which properties.
type Options struct {
	Server     string                // "" is the simulated broker; "rabbitmq" is one that is found, or started if it is installed; or an amqp:// address
	Properties []Property            // properties to judge; empty means all that apply
	Own        []Own                 // custom properties, judged in addition
	Require    []Property            // properties that must be judged; if one is skipped, Result.Err is ErrInconclusive
	Strict     bool                  // a failed acquire promises that all slots were taken at the same moment, not each at a moment of its own
	First      bool                  // end at the first violation
	Log        io.Writer             // receives the standard error of external programs
	Found      func(*Counterexample) // called when a violation is seen, and again when more is known about it
	Progress   func(done, of int)    // called with counts of executions, states or rounds; of is 0 for states
}

// Sample says which executions Prove and Test draw. Each client repeats its calls Rounds times. Administrators change
// the number of Slots. A number that is 0 is drawn for each execution.
type Sample struct {
	Options
	Seed                                     uint64        // seed of the random choices; 0 is 1
	Executions                               int           // 0 is 100,000, or 2,000 if external or in Test
	Time                                     time.Duration // maximum duration; 0 is no limit
	Workers                                  int           // 0 is one for each processor, and more for an Exec whose clients wait; if clients share state in one process, set 1
	Clients, Admins, Slots, Rounds, Restarts int           // Restarts are restarts of the server
	Start                                    []int         // the slots that exist at first, such as 1 and 3; empty means 1 to Slots
	CrashShare                               float64       // share of operations during which a client dies, from 0 to 1
}

// Bounds say what Explore visits. The default is one round of 2 Clients, 1 administrator, 2 Slots and 1 crash; for an
// external lock, 2 Clients, no administrator, 1 slot and no crash.
type Bounds struct {
	Options
	Clients, Admins, Slots, Rounds                int
	Start                                         []int           // slots that exist at first; empty means 1 to Slots
	From                                          *Counterexample // begin in the state of this counterexample after After steps, with its clients
	After                                         int
	Locks                                         []string // names of the locks, at most two; empty means one lock called jobs
	Calls, AdminCalls                             string   // calls of each client or administrator, such as "acquire,remove:1"
	Crashes, Drops, ChannelErrors, Lost, Restarts int      // numbers of clients that die, connections that drop, channels that end, replies that get lost, and restarts of the server
	Prompt                                        bool     // the server notices a lost connection at once; otherwise at any later moment
	Workers                                       int      // 0 is one for each processor
	Depth                                         int      // maximum number of levels; 0 is no bound
	Memory                                        int64    // end at about this many bytes; 0 is 8 GiB
	Exact                                         bool     // store whole states, not fingerprints
	Checkpoint, Resume                            string   // file in which the search is saved if it ends early; file from which it continues
	Executions                                    int      // maximum number of executions of an external lock; 0 is 10,000
	Simulate                                      int      // number of random executions, drawn by Seed, to run instead of all; 0 is all
	Seed                                          uint64
}

// Load is the load in Stress: by default 5 Clients and 1 administrator, with 2 Slots, for 200 Rounds.
type Load struct {
	Options
	Seed                                     uint64 // seed of the random choices; 0 is 1
	Clients, Admins, Slots, Rounds, Restarts int
	CrashShare                               float64   // share of operations during which a client dies, from 0 to 1
	Proxy                                    bool      // external clients use a proxy, so that more can be judged
	History                                  io.Writer // receives the history before it is judged
}

// or returns n, with three exceptions: usual for 0, 0 for None, and explore.AnyNumber for Any.
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

// count is a number in the options, with the name of its field.
type count struct {
	name string
	n    int
}

// check returns an error if a number is below Any, the lowest special value.
func check(numbers ...count) error {
	for _, c := range numbers {
		if c.n < Any {
			return invalid("%s %d: expected a number, None or Any", c.name, c.n)
		}
	}
	return nil
}

// finite returns an error if a number is Any, or below it.
func finite(numbers ...count) error {
	for _, c := range numbers {
		if c.n == Any {
			return invalid("any number of %s: expected a number; only clients, administrators and faults of Bounds have it", c.name)
		}
	}
	return check(numbers...)
}

// positive returns an error if a number is below 0.
func positive(numbers ...count) error {
	for _, c := range numbers {
		if c.n < 0 {
			return invalid("%s %d: expected at least 1", c.name, c.n)
		}
	}
	return nil
}

// sampling returns the engine's settings for drawing executions.
func (o *Sample) sampling() (s engine.Sampling, err error) {
	if err := positive(count{"Executions", o.Executions}, count{"Workers", o.Workers}); err != nil {
		return s, err
	}
	if o.Time < 0 {
		return s, invalid("Time %v: expected more than nothing", o.Time)
	}
	s = engine.Sampling{Seed: max(1, o.Seed), Scenarios: o.Executions, Time: o.Time, Workers: o.Workers}
	s.Shape, err = o.shape()
	return s, err
}

// shape returns the numbers that the user has set, such as Clients. Numbers that are 0 are left out, and drawn later.
func (o *Sample) shape() (s sim.Shape, err error) {
	for _, n := range []struct {
		count
		to **int
	}{
		{count{"Clients", o.Clients}, &s.Clients}, {count{"Admins", o.Admins}, &s.Admins}, {count{"Slots", o.Slots}, &s.Slots},
		{count{"Rounds", o.Rounds}, &s.Rounds}, {count{"Restarts", o.Restarts}, &s.Restarts},
	} {
		if err := finite(n.count); err != nil {
			return s, err
		}
		if n.n != 0 {
			value := or(n.n, 0)
			*n.to = &value
		}
	}
	if o.CrashShare != 0 {
		s.CrashShare = new(max(o.CrashShare, 0))
	}
	s.Start, err = started(o.Start, o.Slots)
	return s, err
}

// started returns slots as a set. An empty set means the default: the slots 1 to number.
func started(slots []int, number int) (set scenario.SlotSet, err error) {
	for _, slot := range slots {
		if slot < 1 || slot >= monitor.Slots {
			return 0, invalid("slot %d to begin with: expected 1 to %d", slot, monitor.Slots-1)
		}
		set |= 1 << slot
	}
	if set != 0 && number != 0 {
		return 0, invalid("slots %s to begin with, and a number of them: expected one of the two", set)
	}
	return set, nil
}

// load returns the engine's settings for Stress, for a lock of type kind.
func (o *Load) load(kind lock.Kind) (stress.Load, error) {
	err := finite(count{"Clients", o.Clients}, count{"Admins", o.Admins}, count{"Slots", o.Slots}, count{"Rounds", o.Rounds}, count{"Restarts", o.Restarts})
	if err != nil {
		return stress.Load{}, err
	}
	l := stress.Load{
		Slots: or(o.Slots, 2), Clients: or(o.Clients, 5), Admins: or(o.Admins, 1), Rounds: or(o.Rounds, 200), Verifies: 2,
		CrashShare: 0.02, Seed: max(1, o.Seed),
	}
	if o.CrashShare != 0 {
		l.CrashShare = max(o.CrashShare, 0)
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

// exploration returns the settings of an exploration, without its lock. admins, slots and crashes are the defaults for
// numbers that are not set.
func (o *Bounds) exploration(admins, slots, crashes int) (e explore.Exploration, err error) {
	if err := o.check(); err != nil {
		return e, err
	}
	e = explore.Exploration{
		Workload: explore.Workload{
			Clients: or(o.Clients, 2), Rounds: or(o.Rounds, 1), Admins: or(o.Admins, admins), Slots: or(o.Slots, slots), Names: o.Locks,
		},
		Walks: o.Simulate, Seed: max(1, o.Seed), Search: o.search(),
	}
	if o.unbounded() {
		crashes = explore.AnyNumber
	}
	e.Faults = sim.FaultBounds{
		Crashes: or(o.Crashes, crashes), Drops: or(o.Drops, 0), ChannelErrors: or(o.ChannelErrors, 0), Lost: or(o.Lost, 0),
		Restarts: or(o.Restarts, 0), Late: !o.Prompt,
	}
	if e.Start, err = started(o.Start, o.Slots); err != nil {
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

// unbounded reports whether the number of clients or of administrators is Any.
func (o *Bounds) unbounded() bool { return o.Clients == Any || o.Admins == Any }

// check returns an error if a number is out of range, or if options exclude each other.
func (o *Bounds) check() error {
	if err := finite(count{"Slots", o.Slots}, count{"Rounds", o.Rounds}); err != nil {
		return err
	}
	if err := positive(count{"Executions", o.Executions}, count{"Simulate", o.Simulate}, count{"Workers", o.Workers}); err != nil {
		return err
	}
	faults := []count{
		{"Crashes", o.Crashes}, {"Drops", o.Drops}, {"ChannelErrors", o.ChannelErrors}, {"Lost", o.Lost}, {"Restarts", o.Restarts},
	}
	if any := slices.ContainsFunc(faults, func(c count) bool { return c.n == Any }); any && !o.unbounded() {
		return invalid("any number of faults: expected a number, or any number of clients")
	}
	return check(append(faults, count{"Clients", o.Clients}, count{"Admins", o.Admins})...)
}

// from copies From and After to e: the exploration begins in the state of the counterexample From after step After. It
// does nothing if From is nil and After is 0.
func (o *Bounds) from(e *explore.Exploration) error {
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

// search returns the settings of the search.
func (o *Bounds) search() search.Options {
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

func (o *Options) failedAcquire() property.FailedAcquire {
	if o.Strict {
		return property.Strong
	}
	return property.Weak
}
