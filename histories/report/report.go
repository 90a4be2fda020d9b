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

// Report is the result of a run: all data of the card, of JSON and of JUnit.
type Report struct {
	Tool   string    // lockproof's version
	Target string    // the judged lock
	Doc    string    // its description in one line; may be empty
	Kind   lock.Kind // its lock type
	Mode   Mode      // the way in which executions were chosen
	// Broker is the server on which the target ran, to be read after "on": "the simulated broker", "RabbitMQ 3.10.8
	// at 127.0.0.1:5672". It is empty for a recorded history.
	Broker string
	// Server is the kind of server of an external lock, as in scenarios; "" is AMQP.
	Server string
	// Source is the judged file, for Recorded and Replayed.
	Source string
	// Readings are the choices made in interpreting a Recorded history, or clients' answers, one in each line.
	Readings []string
	// Command is the command as typed, quoted for a shell; it repeats the run. "" if none was typed.
	Command string
	// Fixed are the options that the user has fixed, as name=value. The others were drawn, or have their defaults.
	Fixed []string
	// Seed repeats a Sampled run; 0 in other modes.
	Seed uint64
	// FailedAcquire says what a failed acquire was assumed to promise: "weak" or "strong".
	FailedAcquire string
	// Bounds describes the executions, such as "3 clients, 2 rounds"; "" if they were drawn, or are unknown.
	Bounds string
	// Space is the visited space of a Visited run; nil for other runs, and if Runs is set.
	Space *Space
	// Views are the visited views of a Visited run of any number of clients; nil for other runs.
	Views *Views
	// Runs are the executions of a Visited run that carried out each from its beginning, without stored states; nil
	// for other runs.
	Runs *Runs

	Scenarios  int // executions run
	Asked      int // executions that a Sampled run was meant to run; 0 is unknown
	Steps      int // actions in all of them
	Commands   int // commands sent
	Operations int // operations called
	// Elapsed is 0 if the output must be reproducible.
	Elapsed time.Duration
	// Spent says what the time of an external target's clients was spent on, over all workers; empty if Elapsed is 0.
	Spent []string
	// At is the end of the run, for pages; zero if the output must be reproducible.
	At time.Time
	// Interrupted says that the run ended before it was complete.
	Interrupted bool

	// Contract is the contract of an external lock; nil for a simulated lock, whose properties are all judged in the
	// same way.
	Contract *Contract
	// Properties are in the order in which they are shown. Others are not shown.
	Properties []PropertyResult
	// Unseen are the known findings of properties that were judged without a violation.
	Unseen known.Findings
	// Earlier has the results for the counterexamples of earlier runs.
	Earlier Earlier
	// Required are the properties that must be judged for the run to be conclusive.
	Required property.Set
	// Least is the number of executions that must be run for the run to be conclusive; 0 is any number.
	Least      int
	Efficiency []EfficiencyRow
	Stale      Overlap
	// Exercised are things that must sometimes happen, so that a run in which nothing happened does not look like a
	// good one.
	Exercised []Exercise
	// Guided says which of the executions were drawn from narrower spaces, because these gave new coverage; empty if
	// none were. Covered says what was covered, if this was recorded.
	Guided  []string
	Covered []Count
	// Uncontrolled is what the target's clients did without a decision of the schedule, each with its frequency. It
	// is omitted for targets that do nothing by themselves.
	Uncontrolled []string
	// Nemesis are the faults of a cluster's machines, with their times. Together says who certainly held a slot at
	// the same time, for how long, and how the first could know. Left is the final content of the lock's queue. They
	// are empty without a cluster.
	Nemesis, Together, Left []string
	// Wire has the total traffic on the wire in executions, by name, such as "round trips" or a command's name; empty if it
	// was not seen. It leaves out the target's commands before and after each execution, and repetitions.
	Wire []Count
	// Traffic is the traffic of single operations on the wire, if it was seen.
	Traffic []Traffic
}

// Mode is the way in which a run's executions were chosen, which limits what its verdicts can claim.
type Mode string

// The modes.
const (
	Sampled  Mode = "sampled"  // drawn from a seed
	Visited  Mode = "visited"  // every execution within the bounds
	Stressed Mode = "stressed" // as they happened on a real broker
	Replayed Mode = "replayed" // one execution, as written in a counterexample
	Recorded Mode = "recorded" // a history from a file
)

// Verdict is the verdict on a property.
type Verdict string

// The verdicts.
const (
	Proved   Verdict = "proved"
	Passed   Verdict = "passed"
	Violated Verdict = "violated"
	// Suspected is a violation that fresh clients did not reproduce. It counts as a violation.
	Suspected Verdict = "suspected"
	// Undecided means judged, but without an answer within the bounds.
	Undecided Verdict = "undecided"
	Skipped   Verdict = "skipped"
	// Kept and Broken are verdicts on promises that the contract does not demand. Breaking such a promise is no
	// violation.
	Kept   Verdict = "kept"
	Broken Verdict = "broken"
)

// Contract is what an external lock must satisfy besides safety and recovery.
type Contract struct {
	Demands property.Set // promises
}

// optional reports whether a property is a promise that the contract does not demand.
func (c *Contract) optional(p property.Property) bool {
	return c != nil && property.Promises.Has(p) && !c.Demands.Has(p)
}

// PropertyResult is the result for one property. Its verdict is not stored, but follows from the rest: see
// [Report.Verdict].
type PropertyResult struct {
	Property property.Property
	// Own is the property if it is a user's own, else nil.
	Own *own.Property
	// Evidence is the evidence on which the verdict rests.
	Evidence property.Evidence
	// Checked is the number of checks of the property. A property without checks is skipped, whatever else is known
	// of it.
	Checked int
	// Scenarios is the number of executions with such checks.
	Scenarios int
	// Violating is the number of executions in which it was seen violated; 0 if they were not counted.
	Violating int
	// Undecided is the number of checks without a decision, for example because a history was too large. Checked does
	// not include them.
	Undecided int
	// Unclear is the reason for them; "" if Undecided is 0, or if the number says enough.
	Unclear string
	// Skip is the reason why the property was not judged; "" if it was.
	Skip string
	// Broken says how an execution broke a promise that the contract does not demand; "" if none did.
	Broken string
	// Note is something that a reader must know to understand the verdict, such as "failed acquires: weak"; may be
	// "".
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

// words are the words for the server. A recorded history does not say which server it is from.
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

// EfficiencyRow has the costs of one operation in one cost class.
type EfficiencyRow struct {
	Operation string // "acquire"
	Situation string // "uncontended, slot 1"
	Count     int    // number of operations
	Commands  Spread
	// RoundTrips counts pipelined commands as one round trip; Unpipelined is the number if the client waited for
	// every reply.
	RoundTrips  Spread
	Unpipelined Spread
	Channels    Spread // opened
	Connections Spread // opened
	// Budget is the largest permitted cost of the operation; nil if there is no limit.
	Budget *Budget
}

// Budget has the largest permitted costs of an operation. A negative number is no limit.
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

// Spread is the smallest, the largest and the sum of some counts. The zero value has no counts.
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

// Merge adds all counts of another spread.
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

// Mean is the average, 0 without counts.
func (s Spread) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Sum) / float64(s.Count)
}

// Overlap is the longest time for which a client believed in a slot that it had lost with its connection, while
// another client had been granted the slot. No lock without fencing can exclude this, so it is shown, but not judged.
type Overlap struct {
	Commands  int           // sent by any client meanwhile
	Time      time.Duration // virtual, on the simulated broker
	Own       time.Duration // the longest by the clock of the believing client, which jumps and drifts
	Scenarios int           // number of executions with an overlap
}

// Traffic is the average traffic of an operation on the wire: frames and bytes that the client sent, and that the
// broker sent back.
type Traffic struct {
	Operation    string
	Calls        int
	Frames, Back float64
	Bytes        float64
	BytesBack    float64
}

// Exercise is something that happened, with the number of executions: "crash", "restart", "RESOURCE_LOCKED", "full".
type Exercise struct {
	Name      string
	Scenarios int
}

// NeverExercised is the reason for skipping a property that no execution put to the test.
const NeverExercised = "never exercised: no execution put it to the test"

// Verdict is the verdict on a property, with the reason if it is skipped or undecided. Only a run that visited
// everything proves, and one violation outweighs any number of executions without one.
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

// unclear is the reason why it is undecided whether a property holds.
func (p *PropertyResult) unclear() string {
	if p.Unclear != "" {
		return p.Unclear
	}
	return fmt.Sprintf("%s of %s could not be decided", style.Grouped(p.Undecided), style.Plural(p.Undecided+p.Checked, "history"))
}

// Result is the result for a property, or nil.
func (r *Report) Result(p property.Property) *PropertyResult {
	for i := range r.Properties {
		if r.Properties[i].Property == p {
			return &r.Properties[i]
		}
	}
	return nil
}
