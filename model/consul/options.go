package consul

import (
	"errors"

	"github.com/lockproof/lockproof/model/lock"
)

// The values of the options that are words.
const (
	BySession = "session"
	ByHolders = "holders"

	OneRead   = "one-read"
	TwoReads  = "two-reads"
	NoPruning = "none"

	CheckAndSet = "cas"
	Blindly     = "put"

	Heeded  = "heeded"
	Ignored = "ignored"

	Below  = "below"
	AtMost = "at-most"

	Oneself  = "oneself"
	Everyone = "everyone"
	Nobody   = "nobody"
	TheKey   = "key"

	Stored = "stored"
	Refuse = "refuse"

	Fail   = "fail"
	Listen = "wait"
)

// Options are the decisions that the guide leaves open, and those that a reader may get wrong. [Text] is the guide as
// written.
type Options struct {
	// TTL is the shortest lifetime of a session without renewal, in milliseconds. With 0, only the node's health
	// check ends the session, as in the guide.
	TTL int
	// Deletes says that a contender's key is deleted when its session ends; otherwise it is released.
	Deletes bool
	// Confirm makes a contender that was added to the holders read once more, as a holder verifies, before it
	// believes that it holds the slot.
	Confirm bool
	// Verify says what a holder checks: that its session is among the holders, or also that it has its contender's
	// key.
	Verify string
	Watch  bool // a holder watches the prefix
	// Retries is the number of further attempts after a failed check-and-set, or an invalid session.
	Retries int
	// Full says what a contender does if the semaphore is full: it fails, or waits for a change, at most for Wait.
	Full string
	Wait int // milliseconds
	// Prune says which read shows the live contenders: the one that has the lock, or an earlier one.
	Prune   string
	Write   string // how the lock is written
	Entry   string // what a contender does if it does not get its key
	Claim   string // what a contender does if its write of the lock fails
	Compare string // the number of holders that leaves room for one more
	Removes string // the sessions that a release removes from the holders
	Differs string // what a contender does if the limit in the lock's key differs from its own
}

// Text is the guide as written; where it is ambiguous, the safer reading.
func Text() Options {
	return Options{
		Verify: BySession, Watch: true, Retries: 3, Full: Fail, Wait: 10, Prune: OneRead, Write: CheckAndSet, Entry: Heeded,
		Claim: Heeded, Compare: Below, Removes: Oneself, Differs: Stored,
	}
}

// Confirmed is the guide with one more request: a contender reads again before it believes that it holds a slot.
func Confirmed() Options {
	o := Text()
	o.Confirm = true
	return o
}

// Check implements [lock.Settings].
func (o Options) Check() error {
	if o.Full == Listen && o.Wait == 0 {
		return errors.New("options full=wait and wait=0: expected at least a millisecond")
	}
	return nil
}

// Facts implements [lock.Settings].
func (o Options) Facts() lock.Facts { return lock.Facts{Retries: o.Retries} }

// Table describes the options.
var Table = lock.NewTable("consul", Confirmed(),
	lock.Number("ttl", "how long a session lives at least without being renewed, in milliseconds; 0 is until the health check of its node fails", 60_000, func(o *Options) *int { return &o.TTL }),
	lock.Toggle("delete-keys", "a contender's key is deleted with its session, not released", func(o *Options) *bool { return &o.Deletes }),
	lock.Toggle("confirm", "a contender reads again before it believes that it holds a slot", func(o *Options) *bool { return &o.Confirm }),
	lock.Word("verify", "what a holder looks at: its session among the holders, or also whether that has its contender's key", func(o *Options) *string { return &o.Verify }, BySession, ByHolders),
	lock.Toggle("watch", "a holder watches the prefix", func(o *Options) *bool { return &o.Watch }),
	lock.Number("retries", "attempts after a lost check-and-set, or with an invalid session", 100, func(o *Options) *int { return &o.Retries }),
	lock.Word("full", "what a contender does that finds every slot taken: it fails, or waits for a change", func(o *Options) *string { return &o.Full }, Fail, Listen),
	lock.Number("wait", "how long it waits then, in milliseconds", 60_000, func(o *Options) *int { return &o.Wait }),
	lock.Word("prune", "which contenders count as alive: those of the read that has the lock, those of an earlier read, or all", func(o *Options) *string { return &o.Prune }, OneRead, TwoReads, NoPruning),
	lock.Word("write", "how the lock is written: with a check-and-set, or whatever it has become", func(o *Options) *string { return &o.Write }, CheckAndSet, Blindly),
	lock.Word("entry", "what a contender makes of a key that it did not get", func(o *Options) *string { return &o.Entry }, Heeded, Ignored),
	lock.Word("claim", "what a contender makes of a lost check-and-set", func(o *Options) *string { return &o.Claim }, Heeded, Ignored),
	lock.Word("compare", "how many holders leave room for one more: fewer than the limit, or as many as that", func(o *Options) *string { return &o.Compare }, Below, AtMost),
	lock.Word("removes", "whom a release takes from the holders; key deletes the lock's key, as an operator might", func(o *Options) *string { return &o.Removes }, Oneself, Everyone, Nobody, TheKey),
	lock.Word("differs", "what a contender makes of a limit in the lock's key that is not its own: it goes by that, or gives up, as Consul's own client does", func(o *Options) *string { return &o.Differs }, Stored, Refuse),
)
