package scenario

import "fmt"

// ActionKind is the kind of an action: a client's step, a fault, or the passage of time.
type ActionKind uint8

// The kinds of actions. They happen one at a time.
const (
	NoAction     ActionKind = iota
	Step                    // the client's next command reaches the broker, and its reply reaches the client
	CrashBefore             // the client dies before it sends its next command
	CrashEffect             // the client's next command takes effect, and the client dies before the reply
	CrashReply              // the client gets the next reply, ends its operation if that was the last, and dies
	Detect                  // the broker notices that the client's old connection is dead
	Drop                    // the broker closes one or all of the client's connections; the client does not notice yet
	ChannelError            // the broker closes the client's channel; the client does not notice yet
	Lose                    // the client's next command takes effect, but the reply never arrives
	Pause                   // the client is paused for Arg milliseconds
	Advance                 // Arg milliseconds pass
	Restart                 // the broker restarts
	Choose                  // the client chooses value number Arg of a random option
	ClockAhead              // the client's clock jumps Arg milliseconds ahead
	ClockBehind             // the client's clock jumps Arg milliseconds back
	ClockFast               // from now on the client's clock gains Arg thousandths
	ClockSlow               // from now on the client's clock loses Arg thousandths
	Idle                    // Arg seconds pass, in which nothing happens
	Stall                   // the next command takes effect; its reply and all later ones wait for an Arrive
	Arrive                  // what was held back arrives at the client: replies, or the end of its connection
	Audit                   // at the end, an auditor or a surviving client carries out an operation, alone
	actionKinds
)

var actionNames = [actionKinds]string{
	"none", "step", "crash-before", "crash-effect", "crash-reply", "detect", "drop", "channel-error", "lose",
	"pause", "advance", "restart", "choose", "clock-ahead", "clock-behind", "clock-fast", "clock-slow", "idle",
	"stall", "arrive", "audit",
}

// String is the kind's name in files.
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

// Global reports whether the action concerns the broker or the time rather than a client.
func (d ActionKind) Global() bool { return d == Restart || d == Advance || d == Idle }

// Crash reports whether the action kills its client.
func (d ActionKind) Crash() bool { return d >= CrashBefore && d <= CrashReply }

// Fault reports whether the action is a fault, rather than a client's step, the passage of time, or a Detect.
func (d ActionKind) Fault() bool {
	return d != Step && d != Choose && d != Detect && d != Advance && d != Idle && d != Arrive && d != Audit
}

// Clock reports whether the action is a fault of a client's clock.
func (d ActionKind) Clock() bool { return d >= ClockAhead && d <= ClockSlow }

// Action is one thing that happens in an execution.
type Action struct {
	Kind   ActionKind `json:"do"`
	Client uint8      `json:"client,omitzero"` // the client's number, from 1
	// Late says of a crash and of a lost reply that the broker does not notice the dead connection until a Detect.
	// For external clients it makes some actions wait for a moment, and the action is recorded at that moment. An
	// Advance waits until a client with a waiting time may be granted the lock. A ChannelError and a Drop wait until
	// their client is about to release; if the lock has leases, Asleep then passes. An Arrive waits until its client
	// is about to verify: the broker then drops the client's connections, and tells the client at once. A Pause waits
	// until its client is about to release, to verify or to extend. It lasts for Asleep, which passes at once. If Arg
	// is more than Asleep, the client is then awake for the seconds that it is longer, and may notice what has ended.
	Late bool `json:"late,omitzero"`
	// Arg is in milliseconds, except for these kinds. For Idle it is in seconds, and for clock rates in thousandths.
	// For Choose it is the choice. For Step it is the client's link (see World.Links). For Drop it selects one of the
	// client's connections: 1 is the one used last, 0 is all.
	Arg uint32 `json:"arg,omitzero"`
}

// String is the action in words.
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
