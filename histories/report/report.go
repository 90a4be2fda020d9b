package report

import (
	"fmt"
	"time"

	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
)

// Report is the result of a run: everything on the card, in JSON and in JUnit.
type Report struct {
	Tool   string    // lockproof's version
	Target string    // the lock judged
	Doc    string    // what it is, in one line; may be empty
	Kind   lock.Kind // its lock type
	Mode   Mode      // how executions were chosen
	// Broker is what the target ran on, as the end of "on …": "the simulated broker",
	// "RabbitMQ 3.10.8 at 127.0.0.1:5672". Empty for a history that was handed in.
	Broker string
	// Server is the kind of server of somebody else's lock, as scenarios name it; "" is AMQP.
	Server string
	// Source is the file judged, of Recorded and Replayed.
	Source string
	// Readings are the choices made in reading a Recorded history, or clients' answers, each in a line.
	Readings []string
	// Command is what was typed, as a shell takes it: it repeats the run. "" where nothing was typed.
	Command string
	// Fixed are the options that the run was told, as name=value. The others were drawn, or are as usual.
	Fixed []string
	// Seed repeats a Sampled run; other modes leave it 0.
	Seed uint64
	// FailedAcquire is what a failed acquire was taken to promise: "weak" or "strong".
	FailedAcquire string
	// Bounds describes the executions, such as "3 clients, 2 rounds"; "" if they were drawn, or are not known.
	Bounds string
	// Space is the visited space of a Visited run; nil for other runs, and if Runs has it.
	Space *Space
	// Views are the visited views of a Visited run of any number of clients; nil for other runs.
	Views *Views
	// Runs are the executions of a Visited run that ran each from its beginning, without stored states; nil for other
	// runs.
	Runs *Runs

	Scenarios  int // executions run
	Asked      int // executions that a Sampled run was to run; 0 is not known
	Steps      int // actions in all of them
	Commands   int // commands sent
	Operations int // operations called
	// Elapsed is left 0 where output must not differ from run to run.
	Elapsed time.Duration
	// Spent is what the time of an external target's clients went into, of all workers; left out as Elapsed is.
	Spent []string
	// At is when the run was over, for pages; the zero time where output must not differ from run to run.
	At time.Time
	// Interrupted says that the run ended before it was complete.
	Interrupted bool

	// Contract is what somebody else's lock is held to; nil for a lock of ours, whose every property is judged alike.
	Contract *Contract
	// Properties are in the order they are shown in. A property that is not here is not shown.
	Properties []PropertyResult
	// Unseen are the known findings of properties that were judged with nothing violated.
	Unseen known.Findings
	// Earlier is what became of the counterexamples that earlier runs have left.
	Earlier Earlier
	// Required are the properties that must be judged for the run to be conclusive.
	Required property.Set
	// Least is how many executions must be run for the run to be conclusive; 0 is any number.
	Least      int
	Efficiency []EfficiencyRow
	Stale      Overlap
	// Exercised are the things that must sometimes happen, so that a run in which nothing happened
	// does not pass for a good one.
	Exercised []Exercise
	// Guided says which of the executions were drawn from narrower spaces, since new coverage came from there; none were
	// where it is empty. Covered is what was covered, where that was looked at.
	Guided  []string
	Covered []Count
	// Uncontrolled is what the target's clients did that no schedule decided, each with how often. It is
	// left out for targets that do nothing by themselves.
	Uncontrolled []string
	// Nemesis is what befell the machines of a cluster, each with its time. Together is who held a slot at the same time for
	// certain, for how long, and how the first could know. Left is what was in the lock's queue at the end. They are left out
	// elsewhere.
	Nemesis, Together, Left []string
	// Wire has the traffic on the wire in executions, by name, if it was seen but not by operation. It leaves out the
	// target's commands before and after each execution, and repetitions.
	Wire []Count
	// Traffic is what single operations took on the wire, where that was seen.
	Traffic []Traffic
}

// Mode is how a run's executions were chosen, and so how much its verdicts can claim.
type Mode string

// The modes.
const (
	Sampled  Mode = "sampled"  // drawn from a seed
	Visited  Mode = "visited"  // every execution within the bounds
	Stressed Mode = "stressed" // as they happened on a real broker
	Replayed Mode = "replayed" // one execution, as written in a counterexample
	Recorded Mode = "recorded" // a history that was handed in
)

// Verdict is what is said of a property.
type Verdict string

// The verdicts.
const (
	Proved   Verdict = "proved"
	Passed   Verdict = "passed"
	Violated Verdict = "violated"
	// Suspected is a violation that fresh clients did not reproduce. It counts as a violation.
	Suspected Verdict = "suspected"
	// Undecided is what was judged, and without an answer within the bounds.
	Undecided Verdict = "undecided"
	Skipped   Verdict = "skipped"
	// Kept and Broken are said of promises that the contract does not demand. To break one is not wrong.
	Kept   Verdict = "kept"
	Broken Verdict = "broken"
)

// Contract is what somebody else's lock is held to beside safety and recovery.
type Contract struct {
	Demands property.Set // promises
}

// optional reports whether a property is a promise that the contract does not demand.
func (c *Contract) optional(p property.Property) bool {
	return c != nil && property.Promises.Has(p) && !c.Demands.Has(p)
}

// PropertyResult is one property and what was found out about it. Its verdict is not stored but
// follows from the rest: see [Report.Verdict].
type PropertyResult struct {
	Property property.Property
	// Own is the property where it is a user's, nil elsewhere.
	Own *own.Property
	// Evidence is what the verdict rests on.
	Evidence property.Evidence
	// Checked is the number of checks of the property. A property without checks is skipped, whatever else is known
	// of it.
	Checked int
	// Scenarios is in how many executions that was.
	Scenarios int
	// Violating is in how many executions it was seen violated; 0 where they were not counted.
	Violating int
	// Undecided is the number of checks without a decision, such as a history too large to decide. Checked does not
	// include them.
	Undecided int
	// Unclear says why it could not be told; "" where Undecided is 0, or the number says it all.
	Unclear string
	// Skip says why the property was not judged; "" where it was.
	Skip string
	// Broken is how an execution broke a promise that the contract does not demand; "" where none did.
	Broken string
	// Note is something the reader must know to understand the verdict, such as "failed acquires: weak"; may be "".
	Note string
	// Violation is the first violation found, or nil.
	Violation *Found
}

// Name is the property's name.
func (p *PropertyResult) Name() string {
	if p.Own != nil {
		return p.Own.Name
	}
	return p.Property.String()
}

// words are how the report speaks of the server. Which one a recorded history is of, it does not say.
func (r *Report) words() lock.Words {
	if r.Mode == Recorded {
		return lock.Words{Server: "server"}
	}
	return lock.WordsOf(r.Target, r.Server)
}

// sentence says when a property of the target holds.
func (r *Report) sentence(p *PropertyResult) string {
	if p.Own != nil {
		return p.Own.Sentence()
	}
	return p.Property.SentenceOn(r.words(), r.Kind)
}

// EfficiencyRow is what one operation cost in one cost class.
type EfficiencyRow struct {
	Operation string // "acquire"
	Situation string // "uncontended, slot 1"
	Count     int    // how many operations
	Commands  Spread
	// RoundTrips counts commands written right behind another's as one with it; Unpipelined is what
	// they would be if every reply were waited for.
	RoundTrips  Spread
	Unpipelined Spread
	Channels    Spread // opened
	Connections Spread // opened
	// Budget is what the operation may cost; nil where there is no limit.
	Budget *Budget
}

// Budget is the most that an operation may cost. A negative number is no limit.
type Budget struct {
	RoundTrips, Channels, Connections int
}

// Within reports whether every operation of the row stayed within its budget.
func (e *EfficiencyRow) Within() bool {
	if e.Budget == nil {
		return true
	}
	b := *e.Budget
	return within(e.RoundTrips, b.RoundTrips) && within(e.Channels, b.Channels) && within(e.Connections, b.Connections)
}

func within(s Spread, limit int) bool { return limit < 0 || s.Max <= limit }

// Spread is the smallest, the largest and the sum of some counts. The zero value has none.
type Spread struct {
	Min, Max, Sum, Count int
}

// Add takes one more count in.
func (s *Spread) Add(n int) {
	if s.Count == 0 {
		s.Min, s.Max = n, n
	}
	s.Min, s.Max = min(s.Min, n), max(s.Max, n)
	s.Sum += n
	s.Count++
}

// Merge takes all counts of another in.
func (s *Spread) Merge(o Spread) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 {
		*s = o
		return
	}
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	s.Sum += o.Sum
	s.Count += o.Count
}

// Mean is the average, and 0 where nothing was counted.
func (s Spread) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Sum) / float64(s.Count)
}

// Overlap is the longest time that a client believed in a slot which its dead connection had lost while another
// client had been granted it. No lock without fencing can exclude that: it is shown, not judged.
type Overlap struct {
	Commands  int           // sent by anyone meanwhile
	Time      time.Duration // virtual, on the simulated broker
	Own       time.Duration // the longest by the clock of the client that believed, which jumps and drifts
	Scenarios int           // in how many executions there was one
}

// Traffic is what an operation took on the wire, on average: frames and bytes that the client sent, and that the
// broker sent back.
type Traffic struct {
	Operation    string
	Calls        int
	Frames, Back float64
	Bytes        float64
	BytesBack    float64
}

// Exercise is something that happened in a number of executions: "crash", "restart",
// "RESOURCE_LOCKED", "full".
type Exercise struct {
	Name      string
	Scenarios int
}

// NeverExercised is the reason given for a property that no execution put to the test.
const NeverExercised = "never exercised: no execution put it to the test"

// Verdict is what the report says of a property, and the reason where it is skipped or undecided. Only a run
// that visited everything proves, and one violation outweighs any number of executions without.
func (r *Report) Verdict(p *PropertyResult) (Verdict, string) {
	switch {
	case p.Violation != nil:
		return p.Violation.verdict(), ""
	case p.Skip != "":
		return Skipped, p.Skip
	case p.Broken != "":
		return Broken, p.Broken
	case p.Undecided > 0 && !r.Contract.optional(p.Property):
		return Undecided, p.unclear()
	case p.Checked == 0:
		return Skipped, NeverExercised
	case r.Contract.optional(p.Property):
		return Kept, ""
	case r.everything():
		return Proved, ""
	}
	return Passed, ""
}

// everything reports whether every execution within the bounds was visited.
func (r *Report) everything() bool {
	return r.Mode == Visited && !r.Interrupted && (r.Space == nil || r.Space.Cut == "" && r.Space.Moments == "") && (r.Runs == nil || r.Runs.Incomplete == "" && r.Runs.Preemptions == nil)
}

// unclear is why it could not be told whether a property holds.
func (p *PropertyResult) unclear() string {
	if p.Unclear != "" {
		return p.Unclear
	}
	return fmt.Sprintf("%s of %s could not be decided", style.Grouped(p.Undecided), style.Plural(p.Undecided+p.Checked, "history"))
}

// Result is what was found out about a property, or nil.
func (r *Report) Result(p property.Property) *PropertyResult {
	for i := range r.Properties {
		if r.Properties[i].Property == p {
			return &r.Properties[i]
		}
	}
	return nil
}
