package consumption

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Phase is what a machine does now: it sends one command, and decides by the reply how to continue.
type Phase uint8

// The phases, grouped by operation.
const (
	NoPhase Phase = iota

	Dialing // opening the link: see link.go
	Opening
	Limiting

	Declaring // acquire: see acquire.go
	Looking
	Consuming
	Waiting
	Cancelling
	Getting

	Checking // verify: see acquire.go

	Leaving // release: see release.go
	Closing
	Nacking
	Acking
	Publishing
	Committing

	Claiming // administration: see admin.go
	Unclaiming
	Making
	Accounting
	Growing
	Entering
	Collecting
	Tallying
	AckingAll
	NackingAll
	Settling
	Deleting
	Counting
	Polling

	Phases // the number of phases
)

// step describes a phase: its command, and the decision after the reply.
type step struct {
	command func(*Protocol, *Machine) amqp.Command
	decide  func(*Protocol, *Machine, amqp.Reply)
	refused func(*Protocol, *Machine, amqp.Code) bool // reports whether the channel error is an answer, not a fault
	// again says that the phase is a publish with confirms. If its channel is closed before the confirm, the message
	// was not published, and the client publishes it again on a new channel.
	again bool
	// harmless says that until the reply of this phase the operation has changed nothing on the broker.
	harmless bool
}

var steps [Phases]step

func init() {
	for _, part := range []map[Phase]step{linkSteps, acquireSteps, releaseSteps, adminSteps} {
		for phase, s := range part {
			steps[phase] = s
		}
	}
	for _, phase := range []Phase{NoPhase, Declaring, Looking, Claiming, Counting, Polling} {
		steps[phase].harmless = true
	}
}

// bare is a command that consists of its method only.
func bare(method amqp.Method) func(*Protocol, *Machine) amqp.Command {
	return func(*Protocol, *Machine) amqp.Command { return amqp.Command{Method: method} }
}

// gone returns a handler of channel errors. It reports whether the code is 404, which means that the queue is missing.
// If so, it first calls do, which continues the operation.
func gone(do func(*Protocol, *Machine)) func(*Protocol, *Machine, amqp.Code) bool {
	return func(p *Protocol, m *Machine, code amqp.Code) bool {
		if code == amqp.NotFound {
			do(p, m)
		}
		return code == amqp.NotFound
	}
}

var phaseNames = [Phases]string{
	"idle", "connecting", "opening a channel", "setting its prefetch count", "declaring the queue", "looking whether it is taken", "consuming",
	"waiting for a token", "cancelling its consumer", "asking for a token", "verifying", "cancelling its consumer", "closing its channel",
	"giving its token back", "acknowledging its token", "publishing a token in its place", "committing", "claiming the administration mutex",
	"giving the administration mutex back", "declaring the queue", "counting slots", "publishing tokens", "accounting for tokens", "collecting tokens",
	"collecting their account", "acknowledging what it collected", "giving back what it collected", "committing", "deleting the queue",
	"counting slots", "waiting for the holder",
}

// String describes the machine's activity in this phase.
func (p Phase) String() string {
	if p < Phases {
		return phaseNames[p]
	}
	return "unknown"
}

// declaring is the command that declares the lock's queue.
func (p *Protocol) declaring() amqp.Command {
	cmd := amqp.Command{Method: amqp.QueueDeclare, Queue: p.Layout.Lock}
	if p.Settings.Durable {
		cmd.Flags |= amqp.Durable
	}
	if p.Settings.AutoDelete && p.Kind == lock.Mutex {
		cmd.Flags |= amqp.AutoDelete
	}
	return cmd
}

// token is the command that publishes a token to queue q.
func (p *Protocol) token(q amqp.Queue) amqp.Command {
	cmd := amqp.Command{Method: amqp.BasicPublish, Queue: q, Flags: amqp.Mandatory}
	if p.Settings.Persistent {
		cmd.Flags |= amqp.Persistent
	}
	return cmd
}

// Furnish are the commands that create the lock with its initial slots. They are sent on a channel with confirms.
func (p *Protocol) Furnish(slots int) (cmds []amqp.Command) {
	switch {
	case p.Kind == lock.Mutex && p.Settings.Creator == ByClient, p.Kind == lock.PersistentMutex && slots == 0:
		return nil
	}
	cmds = append(cmds, p.declaring())
	if p.Kind != lock.Semaphore {
		return cmds
	}
	if p.Settings.Admin == Accounted {
		cmds = append(cmds, p.account())
	}
	for range slots {
		cmds = append(cmds, p.token(p.Layout.Lock))
		if p.Settings.Admin == Accounted {
			cmds = append(cmds, p.token(p.Layout.Account))
		}
	}
	return cmds
}
