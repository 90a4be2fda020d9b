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

// Report is the result of a run, with all data that a card (plain text), JSON, JUnit and the other forms show.
type Report struct {
	Tool   string    // lockproof's version
	Target string    // name of the judged lock
	Doc    string    // description of the lock in one line; may be empty
	Kind   lock.Kind // lock type of the target
	Mode   Mode      // how executions were chosen
	// Broker names the server on which the target ran, such as "the simulated broker" or "RabbitMQ 3.10.8 at
	// 127.0.0.1:5672". It is read after the word "on". For a recorded history it is empty.
	Broker string
	// Server is the kind of server of an external lock, as in scenarios; "" is AMQP.
	Server string
	// Source is the file that was judged, in the modes Recorded and Replayed.
	Source string
	// Readings describe how a history or clients' answers were interpreted where there was a choice, one choice in each
	// line.
	Readings []string
	// Command is the command as typed, quoted for a shell. It repeats the run. "" means that none was typed.
	Command string
	// Fixed are the options that the user has fixed, as name=value. Other options were drawn at random or have their
	// defaults.
	Fixed []string
	// Seed is the seed of a Sampled run, which repeats it. In other modes it is 0.
	Seed uint64
	// FailedAcquire says what "full" was assumed to mean: each slot was taken at some moment of the call ("weak"), or
	// all were taken at one moment ("strong").
	FailedAcquire string
	// Bounds describes the set of executions, such as "3 clients, 2 rounds". It is "" if executions were drawn, or if
	// the bounds are unknown.
	Bounds string
	// Space is the state space of a Visited run. It is nil for other runs, and if Runs is set.
	Space *Space
	// Views is the result of a Visited run for any number of clients; nil for other runs.
	Views *Views
	// Runs is the result of a Visited run that carried out every execution from its beginning, without storing states.
	// It is nil for other runs.
	Runs *Runs

	Scenarios  int // number of executions run
	Asked      int // number of executions that a Sampled run was asked for; 0 if unknown
	Steps      int // number of actions in all executions
	Commands   int // number of commands sent
	Operations int // number of operations called
	// Elapsed is the duration of the run. It is 0 if the output must be reproducible.
	Elapsed time.Duration
	// Spent says on what the clients of an external target spent their time, summed over all workers. It is empty if
	// Elapsed is 0.
	Spent []string
	// At is the time when the run ended, for pages. It is zero if the output must be reproducible.
	At time.Time
	// Interrupted says that the run ended before it was complete.
	Interrupted bool

	// Contract says which promises an external lock must keep. It is nil for a simulated lock, for which every property
	// is demanded.
	Contract *Contract
	// Properties are the results for the properties, in the order in which they are shown.
	Properties []PropertyResult
	// Unseen are the known findings that this run did not see, although it judged their properties.
	Unseen known.Findings
	// Earlier has the results of replaying the counterexamples of earlier runs.
	Earlier Earlier
	// Required are the properties that must be judged. If one is not, the run is inconclusive.
	Required property.Set
	// Least is the number of executions that the run must have at least. With fewer, the run is inconclusive. 0 means
	// any number.
	Least      int
	Efficiency []EfficiencyRow
	Stale      Overlap
	// Exercised counts things that should sometimes happen, such as a crash. A run in which nothing happened can thus
	// be recognized.
	Exercised []Exercise
	// Guided says which executions were drawn from narrower spaces because these gave new coverage; empty if none were.
	// Covered says what was covered; empty if coverage was not recorded.
	Guided  []string
	Covered []Count
	// Uncontrolled lists what the target's clients did without a decision of the schedule, and how often. It is empty
	// for targets whose clients do nothing by themselves.
	Uncontrolled []string
	// Nemesis lists the faults of a cluster's machines with their times. Together says which clients certainly held a
	// slot at the same time, for how long, and how one of them learned that its hold was over. Left is the final
	// content of the lock's queue. All three are empty without a cluster.
	Nemesis, Together, Left []string
	// Wire counts the traffic on the wire in executions, by names such as "round trips" or a command's name. It is
	// empty if the traffic was not recorded. It leaves out repetitions, and commands before and after each execution.
	Wire []Count
	// Traffic is the average traffic of single operations. It is empty if the traffic was not recorded.
	Traffic []Traffic
}

// Mode is the way in which a run chose its executions. It limits what verdicts can claim: for example, a sample proves
// nothing.
type Mode string

// The modes of a run.
const (
	Sampled  Mode = "sampled"  // drawn at random from a seed
	Visited  Mode = "visited"  // every execution within the bounds
	Stressed Mode = "stressed" // executions as they happened to run on a real server
	Replayed Mode = "replayed" // one execution, as written in a counterexample
	Recorded Mode = "recorded" // a history from a file
)

// Verdict is a verdict on a property, such as "proved" or "violated".
type Verdict string

// The verdicts on a property.
const (
	Proved   Verdict = "proved"
	Passed   Verdict = "passed"
	Violated Verdict = "violated"
	// Suspected means a violation that fresh clients did not reproduce. It counts as a violation.
	Suspected Verdict = "suspected"
	// Undecided means that the property was judged, but the answer was not found within the bounds.
	Undecided Verdict = "undecided"
	Skipped   Verdict = "skipped"
	// Kept and Broken are verdicts on promises that the contract does not demand. Broken is no violation.
	Kept   Verdict = "kept"
	Broken Verdict = "broken"
)

// Contract says which properties an external lock must satisfy besides safety and recovery.
type Contract struct {
	Demands property.Set // the promises that the lock must keep
}

// optional reports whether a property is a promise that the contract does not demand.
func (c *Contract) optional(p property.Property) bool {
	return c != nil && property.Promises.Has(p) && !c.Demands.Has(p)
}

// PropertyResult is the result for one property. The verdict is not stored: [Report.Verdict] computes it.
type PropertyResult struct {
	Property property.Property
	// Own is the user's own property; nil if the property is one of lockproof's.
	Own *own.Property
	// Evidence is the kind of evidence from which the verdict follows, such as the history.
	Evidence property.Evidence
	// Checked is the number of times that the property was checked. If it is 0, the property is skipped.
	Checked int
	// Scenarios is the number of executions in which the property was checked.
	Scenarios int
	// Violating is the number of executions that violate the property; 0 if they were not counted.
	Violating int
	// Undecided is the number of checks without an answer, for example because a history was too large. They are not in
	// Checked.
	Undecided int
	// Unclear is the reason why checks gave no answer. It is "" if Undecided is 0, or if the number says enough.
	Unclear string
	// Skip is the reason why the property was not judged; "" if it was.
	Skip string
	// Broken says how an execution broke a promise that the contract does not demand; "" if none did.
	Broken string
	// Note is a remark without which the verdict could be misunderstood, such as "failed acquires: weak"; may be "".
	Note string
	// Violation is the first violation that was found; nil if none was.
	Violation *Found
}

// Name is the property's name.
func (p *PropertyResult) Name() string {
	if p.Own != nil {
		return p.Own.Name
	}
	return p.Property.String()
}

// words are the words for the server in texts. A recorded history does not say which kind of server it is from.
func (r *Report) words() lock.Words {
	if r.Mode == Recorded {
		return lock.Words{Server: "server"}
	}
	return lock.WordsOf(r.Target, r.Server)
}

// sentence says in words what a property demands of the target.
func (r *Report) sentence(p *PropertyResult) string {
	if p.Own != nil {
		return p.Own.Sentence()
	}
	return p.Property.SentenceOn(r.words(), r.Kind)
}

// EfficiencyRow has the costs of one operation in one situation (cost class).
type EfficiencyRow struct {
	Operation string // such as "acquire"
	Situation string // such as "uncontended, slot 1"
	Count     int    // number of operations
	Commands  Spread
	// RoundTrips is the number of round trips; commands that were sent without waiting in between count as one.
	// Unpipelined is the number if the client waited for every reply.
	RoundTrips  Spread
	Unpipelined Spread
	Channels    Spread // number opened
	Connections Spread // number opened
	// Budget has the largest permitted costs of the operation; nil if they are not limited.
	Budget *Budget
}

// Budget has the largest permitted costs of an operation. A negative number means that there is no limit.
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

// Spread is the smallest, the largest and the sum of some counts. The zero value is a spread of no counts.
type Spread struct {
	Min, Max, Sum, Count int
}

// Add adds a count.
func (s *Spread) Add(n int) {
	if s.Count == 0 {
		s.Min, s.Max = n, n
	}
	s.Min, s.Max = min(s.Min, n), max(s.Max, n)
	s.Sum += n
	s.Count++
}

// Merge adds all counts of the other spread.
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

// Mean is the average of the counts; 0 if there are none.
func (s Spread) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Sum) / float64(s.Count)
}

// Overlap is the longest time for which a client still believed that it held a slot, while another client had already
// been granted it. The first client had lost the slot with its connection. No lock without fencing can exclude this. It
// is therefore shown, but not judged.
type Overlap struct {
	Commands  int           // commands that any client sent during the overlap
	Time      time.Duration // virtual time on the simulated broker
	Own       time.Duration // longest such time by the believing client's clock, which jumps and drifts
	Scenarios int           // number of executions with such an overlap
}

// Traffic is the average traffic of an operation: the frames and bytes that the client sent, and those that the broker
// sent back.
type Traffic struct {
	Operation    string
	Calls        int
	Frames, Back float64
	Bytes        float64
	BytesBack    float64
}

// Exercise counts the executions in which something happened, such as "crash", "restart", "RESOURCE_LOCKED" or "full".
type Exercise struct {
	Name      string
	Scenarios int
}

// NeverExercised is the reason for skipping a property that no execution put to the test.
const NeverExercised = "never exercised: no execution put it to the test"

// Verdict is the verdict on a property, with the reason if it is skipped or undecided. A property is proved only if the
// run visited every execution. A single violation decides, however many executions have none.
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

// unclear says why a property is undecided. Without a recorded reason, it says how many histories could not be decided.
func (p *PropertyResult) unclear() string {
	if p.Unclear != "" {
		return p.Unclear
	}
	return fmt.Sprintf("%s of %s could not be decided", style.Grouped(p.Undecided), style.Plural(p.Undecided+p.Checked, "history"))
}

// Result is the result for a property; nil if the report has none.
func (r *Report) Result(p property.Property) *PropertyResult {
	for i := range r.Properties {
		if r.Properties[i].Property == p {
			return &r.Properties[i]
		}
	}
	return nil
}
