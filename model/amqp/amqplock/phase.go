package amqplock

import "github.com/lockproof/lockproof/model/amqp"

// Phase is what a machine is doing: each phase is one batch of commands and the decision that their
// replies lead to.
type Phase uint8

// The phases.
const (
	NoPhase Phase = iota

	Dialing // the link: link.go
	Opening

	Scanning // acquire: acquire.go
	ScanningA
	ScanningB
	Claiming
	Confirming
	Withdrawing
	ChoosingSlot
	ChoosingJitter

	Checking // verify: verify.go
	Relinquishing

	DeletingB // release: release.go
	ClosingConnection
	ClosingChannel

	MutexProbing // administration: admin.go
	MutexClaiming
	MutexReleasing
	Measuring
	Pruning
	Growing
	Shrinking
	Polling

	Reclaiming // verify again: verify.go

	Phases // how many there are
)

// step is what a phase does: a batch of plain commands followed by probes, and a decision.
type step struct {
	lead    int                                                // how many plain commands
	command func(p *Protocol, m *Machine, i int) amqp.Command  // the i-th of them
	probes  func(p *Protocol, m *Machine) int                  // how many probes
	probe   func(p *Protocol, m *Machine, i int) amqp.Queue    // the i-th queue probed
	decide  func(p *Protocol, m *Machine)                      // all replies are in
	refused func(p *Protocol, m *Machine, code amqp.Code) bool // a channel error that is an answer
}

var steps [Phases]step

func init() {
	for _, part := range []map[Phase]step{linkSteps, acquireSteps, verifySteps, releaseSteps, adminSteps} {
		for phase, s := range part {
			if s.probes == nil {
				s.probes = none
			}
			steps[phase] = s
		}
	}
}

func none(*Protocol, *Machine) int { return 0 }
func one(*Protocol, *Machine) int  { return 1 }

// size is how many commands the batch at hand has.
func (p *Protocol) size(m *Machine) int {
	return p.lead(m) + steps[m.Phase].probes(p, m)*p.probeWidth()
}

// lead is the number of plain commands at the start of the current batch. A channel without publishes needs no
// confirmation mode.
func (p *Protocol) lead(m *Machine) int {
	if m.Phase == Opening && p.Options.Confirm == NoConfirms {
		return 1
	}
	return steps[m.Phase].lead
}

// command makes cmd, which is empty, the i-th command of the batch at hand.
func (p *Protocol) command(m *Machine, i int, cmd *amqp.Command) {
	s, lead := &steps[m.Phase], p.lead(m)
	if i < lead {
		*cmd = s.command(p, m, i)
	} else {
		probe, part := p.part(i - lead)
		p.probing(s.probe(p, m, probe), part, cmd)
	}
	cmd.Channel = uint16(m.Channel)
}

// locked takes RESOURCE_LOCKED for an answer: the queue is another connection's.
func locked(_ *Protocol, _ *Machine, code amqp.Code) bool { return code == amqp.ResourceLocked }

var phaseNames = [Phases]string{
	"idle", "connecting", "opening a channel", "looking for a slot", "asking whether a slot exists", "asking whether it is held", "claiming",
	"confirming the claim", "withdrawing", "choosing a slot", "waiting before it tries again", "verifying", "giving a removed slot up",
	"deleting its queue", "closing its connection", "closing its channel", "asking for the administration mutex", "claiming the administration mutex",
	"giving the administration mutex back", "counting slots", "pruning", "adding", "removing", "waiting for a holder",
	"claiming its slot again",
}

// String says what a machine is doing in this phase.
func (p Phase) String() string {
	if p < Phases {
		return phaseNames[p]
	}
	return "unknown"
}
