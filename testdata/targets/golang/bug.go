package amqplocks

// Bug is a mistake that programmers really make. NoBug is a semaphore without a mistake.
type Bug string

// The bugs that a client can have.
const (
	NoBug Bug = ""
	// NotMandatory: the probe message is published without the mandatory flag. It is never returned, so every queue
	// seems to exist.
	NotMandatory Bug = "not-mandatory"
	// ReturnIgnored: the confirm of the probe is taken as the answer. But the broker also confirms messages that it
	// returns.
	ReturnIgnored Bug = "return-ignored"
	// VerifyReconnects: if the connection is lost, verify connects again, and ignores that the exclusive queue was
	// lost with the old connection.
	VerifyReconnects Bug = "verify-reconnects"
	// ReleaseClosesChannel: a release only closes the channel. The exclusive queue stays, since it belongs to the
	// connection.
	ReleaseClosesChannel Bug = "release-closes-channel"
	// LockedIsSuccess: the error RESOURCE_LOCKED is taken to mean that the queue is this client's.
	LockedIsSuccess Bug = "locked-is-success"
	// LockedIsPanic: the error RESOURCE_LOCKED is considered impossible, and causes a panic.
	LockedIsPanic Bug = "locked-is-panic"
	// ConfirmUnread: each probe reads the confirm of the previous probe, and leaves its own confirm unread. So it
	// continues before its own answer has arrived.
	ConfirmUnread Bug = "confirm-unread"
	// NoSecondLook: an acquire does not check whether the slot was removed while it was claimed.
	NoSecondLook Bug = "no-second-look"
)
