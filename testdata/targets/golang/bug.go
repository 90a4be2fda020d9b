package amqplocks

// Bug is a mistake that people really make. NoBug makes none.
type Bug string

// The bugs.
const (
	NoBug Bug = ""
	// NotMandatory publishes the probe without mandatory: it never comes back, and every queue seems to
	// exist.
	NotMandatory Bug = "not-mandatory"
	// ReturnIgnored awaits the confirm and takes it for the answer: the broker confirms what it returns,
	// too.
	ReturnIgnored Bug = "return-ignored"
	// VerifyReconnects has verify connect again when the connection is gone, and not ask what went with it.
	VerifyReconnects Bug = "verify-reconnects"
	// ReleaseClosesChannel closes the channel to release: an exclusive queue is the connection's, and stays.
	ReleaseClosesChannel Bug = "release-closes-channel"
	// LockedIsSuccess takes RESOURCE_LOCKED for "it is there already".
	LockedIsSuccess Bug = "locked-is-success"
	// LockedIsPanic takes RESOURCE_LOCKED for what cannot happen, and panics.
	LockedIsPanic Bug = "locked-is-panic"
	// ConfirmUnread reads the confirm of the probe before this one first, and leaves this one's to the next: it
	// goes on before it is answered, and takes another's answer for its own.
	ConfirmUnread Bug = "confirm-unread"
	// NoSecondLook grants a slot without looking whether it was removed while it was claimed.
	NoSecondLook Bug = "no-second-look"
)
