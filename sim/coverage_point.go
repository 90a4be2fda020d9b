package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// CoveragePoint is an event, such as a crash, that must happen in at least one of a run's executions. If it never
// happens, the run tests less than it seems to.
type CoveragePoint uint8

// These are the events that some execution of a run should meet.
const (
	SawCrash CoveragePoint = iota
	SawLateDetection
	SawDrop
	SawChannelError
	SawLostReply
	SawPause
	SawTime
	SawRestart
	SawLostRace
	SawFull
	SawGaveUp
	SawWithdrawn
	SawRemoved
	SawDisconnected
	SawBusy
	SawRandomOption
	SawTwoLocks
	CoveragePoints // the number of coverage points
)

var coveragePointNames = [CoveragePoints]string{
	"client crash", "dead connection noticed late", "connection dropped by the broker", "channel error",
	"lost reply", "pause", "time passing", "broker restart", "RESOURCE_LOCKED", "acquire: full", "acquire: gave up",
	"acquire: withdrawn", "verify: removed", "verify: disconnected", "administration: busy", "random option", "two locks",
}

// String returns the name of the coverage point, as text.
func (s CoveragePoint) String() string { return coveragePointNames[s] }

// offBroker has names of coverage points for servers that are not brokers, where the usual name fits only a broker.
var offBroker = map[CoveragePoint]string{
	SawDrop: "connection dropped by the server", SawChannelError: "abort", SawRestart: "server restart", SawLostRace: "lost race",
}

// Of returns the name of the coverage point for a lock of kind k on a server with the words w. A mutex, for example,
// has no slots to remove.
func (s CoveragePoint) Of(w lock.Words, k lock.Kind) string {
	said, ok := offBroker[s]
	switch {
	case ok && w.OffBroker():
		return said
	case k == lock.Semaphore:
	case s == SawFull:
		return "acquire: taken"
	case s == SawRemoved:
		return "verify: gone"
	}
	return s.String()
}

// Happens reports whether the point can happen with an external lock of kind k on a server with the words w. For
// example, only a broker closes channels, a mutex is not administered, and an external client does not say why it was
// refused.
func (s CoveragePoint) Happens(w lock.Words, k lock.Kind) bool {
	switch s {
	case SawChannelError, SawLostRace, SawGaveUp, SawWithdrawn, SawRemoved, SawDisconnected:
		return !w.OffBroker()
	case SawBusy:
		return !w.OffBroker() || k != lock.Mutex
	}
	return true
}

// Faulty reports whether the point is a fault, or can happen only after a fault.
func (s CoveragePoint) Faulty() bool { return s <= SawRestart || s == SawDisconnected }

// Seen is a set of coverage points.
type Seen uint32

// Has reports whether a coverage point is in the set.
func (s Seen) Has(k CoveragePoint) bool { return s&(1<<k) != 0 }

func (s *Seen) add(k CoveragePoint) { *s |= 1 << k }

var seenDoing = map[scenario.ActionKind]CoveragePoint{
	scenario.CrashBefore: SawCrash, scenario.CrashEffect: SawCrash, scenario.CrashReply: SawCrash,
	scenario.Detect: SawLateDetection, scenario.Drop: SawDrop, scenario.ChannelError: SawChannelError,
	scenario.Lose: SawLostReply, scenario.Pause: SawPause, scenario.Advance: SawTime, scenario.Idle: SawTime, scenario.Restart: SawRestart,
	scenario.Choose: SawRandomOption,
}

func (s *Seen) action(a scenario.Action) {
	if a.Kind == scenario.Step {
		return
	}
	if k, ok := seenDoing[a.Kind]; ok {
		s.add(k)
	}
}

func (s *Seen) exchange(x *backend.Exchange) {
	if x.Result == backend.Refused {
		s.add(SawLostRace)
	}
}

func (s *Seen) result(op lock.Op, r lock.Result) {
	switch r.Reason {
	case lock.Full:
		s.add(SawFull)
	case lock.GaveUp:
		if op == lock.Acquire {
			s.add(SawGaveUp)
		}
	case lock.Withdrawn:
		s.add(SawWithdrawn)
	case lock.Removed:
		s.add(SawRemoved)
	case lock.Disconnected:
		if op == lock.Verify {
			s.add(SawDisconnected)
		}
	case lock.Busy:
		s.add(SawBusy)
	}
}

// Covered returns the coverage points of the execution t, whose clients may be simulated or external.
func Covered(t *scenario.Trace) (seen Seen) {
	if len(t.Scenario.Locks) > 1 {
		seen.add(SawTwoLocks)
	}
	for i := range t.Steps {
		seen.action(t.Steps[i].Action)
		seen.exchange(&t.Steps[i].Exchange)
	}
	for _, e := range t.History.Events {
		seen.result(e.F.Op(), lock.Result{Reason: e.Reason})
	}
	return seen
}
