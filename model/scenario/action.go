package scenario

import "fmt"

// ActionKind is the kind of an action.
type ActionKind uint8

// The actions: everything that can happen in a world, one at a time.
const (
	NoAction     ActionKind = iota
	Step                    // the client's next command reaches the broker, and its reply the client
	CrashBefore             // the client dies instead of sending its next command
	CrashEffect             // its next command takes effect, and it dies before the reply
	CrashReply              // it gets the reply to its next command, returns if that was the last, and dies
	Detect                  // the broker notices that the client's old connection is dead
	Drop                    // the broker drops the client's connections, or one of them; the client does not know yet
	ChannelError            // the broker closes the client's channel; the client does not know yet
	Lose                    // the client's next command takes effect, its reply never arrives
	Pause                   // the client stands still for Arg milliseconds
	Advance                 // Arg milliseconds pass
	Restart                 // the broker restarts
	Choose                  // the client's random option takes its Arg-th way
	ClockAhead              // the client's clock jumps Arg milliseconds ahead
	ClockBehind             // the client's clock jumps Arg milliseconds back
	ClockFast               // from now on the client's clock is fast by Arg thousandths
	ClockSlow               // from now on the client's clock is slow by Arg thousandths
	Idle                    // Arg seconds pass in which nobody does anything
	Stall                   // the client's next command takes effect, and its reply waits, with all that comes behind it
	Arrive                  // what has waited for the client arrives: replies, or that its connection is gone
	Audit                   // all comes to rest, and a client, of those that audit or have survived, carries out an operation alone
	actionKinds
)

var actionNames = [actionKinds]string{
	"none", "step", "crash-before", "crash-effect", "crash-reply", "detect", "drop", "channel-error", "lose",
	"pause", "advance", "restart", "choose", "clock-ahead", "clock-behind", "clock-fast", "clock-slow", "idle",
	"stall", "arrive", "audit",
}

// String is the action's name in files.
func (d ActionKind) String() string {
	if d < actionKinds {
		return actionNames[d]
	}
	return "unknown"
}

// MarshalText implements [encoding.TextMarshaler].
func (d ActionKind) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *ActionKind) UnmarshalText(text []byte) error {
	for i, n := range actionNames {
		if n == string(text) && i > 0 {
			*d = ActionKind(i)
			return nil
		}
	}
	return fmt.Errorf("action %q: expected one of %q", text, actionNames[1:])
}

// Global reports whether the action befalls the broker or time, and no client.
func (d ActionKind) Global() bool { return d == Restart || d == Advance || d == Idle }

// Crash reports whether the action kills its client.
func (d ActionKind) Crash() bool { return d >= CrashBefore && d <= CrashReply }

// Fault reports whether something goes wrong in the action: it is not what clients do of themselves, nor time, nor what the
// broker notices.
func (d ActionKind) Fault() bool {
	return d != Step && d != Choose && d != Detect && d != Advance && d != Idle && d != Arrive && d != Audit
}

// Clock reports whether the action is a fault of its client's clock.
func (d ActionKind) Clock() bool { return d >= ClockAhead && d <= ClockSlow }

// Action is one choice made: what happens next.
type Action struct {
	Kind   ActionKind `json:"do"`
	Client uint8      `json:"client,omitzero"` // the client's number, from 1
	// Late says of a crash and of a lost reply that the broker does not notice the dead connection
	// until a Detect. For clients that are not ours, it also says that an action waits for its moment, and is recorded when
	// that has come: of an Advance, when one that was told how long to wait may be granted the lock; of a ChannelError and a
	// Drop, when their client is about to release what it holds; of an Arrive, when its client is about to verify what it
	// holds: the broker drops its connections then, and it is told so at once.
	Late bool `json:"late,omitzero"`
	// Arg is milliseconds, of Idle seconds, thousandths, or the choice; of Drop, which of the client's connections, 1 for
	// the one that it used last, 0 for all; of Step, the link by which the client goes on.
	Arg uint32 `json:"arg,omitzero"`
}

// String is the action as a person would say it.
func (a Action) String() string {
	switch a.Kind {
	case Restart:
		return "restart"
	case Advance:
		return fmt.Sprintf("advance %d ms", a.Arg)
	case Idle:
		return fmt.Sprintf("idle %d s", a.Arg)
	case Pause, Choose, ClockAhead, ClockBehind, ClockFast, ClockSlow:
		return fmt.Sprintf("%s c%d %d", a.Kind, a.Client, a.Arg)
	}
	s := fmt.Sprintf("%s c%d", a.Kind, a.Client)
	if a.Kind == Drop && a.Arg > 0 {
		s += fmt.Sprintf(" connection %d", a.Arg)
	}
	if a.Late {
		s += " late"
	}
	return s
}
