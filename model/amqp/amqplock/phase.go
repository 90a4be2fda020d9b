package amqplock

import "github.com/lockproof/lockproof/model/amqp"

// Phase is what a machine does now: it sends a batch of commands, and decides by their replies how to continue.
type Phase uint8

// The phases, grouped by operation.
const (
	NoPhase Phase = iota

	Dialing // opening the link: see link.go
	Opening

	Scanning // acquire: see acquire.go
	ScanningA
	ScanningB
	Claiming
	Confirming
	Withdrawing
	ChoosingSlot
	ChoosingJitter

	Checking // verify: see verify.go
	Relinquishing

	DeletingB // release: see release.go
	ClosingConnection
	ClosingChannel

	MutexProbing // administration: see admin.go
	MutexClaiming
	MutexReleasing
	Measuring
	Pruning
	Growing
	Shrinking
	Polling

	Reclaiming // verify by declaring again: see verify.go

	Phases // the number of phases
)

// step describes a phase: its batch of plain commands followed by probes, and the decision after the last reply.
type step struct {
	lead    int                                                // number of plain commands
	command func(p *Protocol, m *Machine, i int) amqp.Command  // the i-th plain command
	probes  func(p *Protocol, m *Machine) int                  // number of probes
	probe   func(p *Protocol, m *Machine, i int) amqp.Queue    // the i-th queue probed
	decide  func(p *Protocol, m *Machine)                      // called after the last reply
	refused func(p *Protocol, m *Machine, code amqp.Code) bool // reports whether code is an answer, not a fault
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

// size is the number of commands in the current batch; a probe may have two.
func (p *Protocol) size(m *Machine) int {
	return p.lead(m) + steps[m.Phase].probes(p, m)*p.probeWidth()
}

// lead is the number of plain commands at the start of the current batch. Without publishes, a new channel needs no
// confirm.select, so that Opening has one command less.
func (p *Protocol) lead(m *Machine) int {
	if m.Phase == Opening && p.Options.Confirm == NoConfirms {
		return 1
	}
	return steps[m.Phase].lead
}

// command sets cmd, which is empty, to the i-th command of the current batch.
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

// locked reports whether code is RESOURCE_LOCKED, which is an answer and not a fault: the queue belongs to another
// connection.
func locked(_ *Protocol, _ *Machine, code amqp.Code) bool { return code == amqp.ResourceLocked }

var phaseNames = [Phases]string{
	"idle", "connecting", "opening a channel", "looking for a slot", "asking whether a slot exists", "asking whether it is held", "claiming",
	"confirming the claim", "withdrawing", "choosing a slot", "waiting before it tries again", "verifying", "giving a removed slot up",
	"deleting its queue", "closing its connection", "closing its channel", "asking for the administration mutex", "claiming the administration mutex",
	"giving the administration mutex back", "counting slots", "pruning", "adding", "removing", "waiting for a holder",
	"claiming its slot again",
}

// String describes the machine's activity in this phase.
func (p Phase) String() string {
	if p < Phases {
		return phaseNames[p]
	}
	return "unknown"
}
