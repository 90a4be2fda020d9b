package consul

import (
	"errors"

	"github.com/lockproof/lockproof/model/lock"
)

// Values of the options of type string.
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

// Options are the choices that Consul's guide leaves open, and some that a reader of it may get wrong. [Text] has those
// of the guide as written.
type Options struct {
	// TTL is the session's TTL in milliseconds: without renewal, it lives at least that long. With 0, only the node's
	// health check ends the session, as in the guide.
	TTL int
	// Deletes says that a contender's key is deleted when its session ends; otherwise it is released.
	Deletes bool
	// Confirm makes a contender read the holders once more after it was added to them. Only if it is still among them
	// does it believe that it holds a slot.
	Confirm bool
	// Verify says what a verify checks: that the client's session is in the list of holders (holders), or also that it
	// still has the client's own key (session).
	Verify string
	Watch  bool // a holder watches the prefix by blocking queries
	// Retries is the number of further attempts after a failed check-and-set, or after a key that was not acquired.
	Retries int
	// Full says what an acquire does if all slots are taken: it fails, or waits once for a change, at most for Wait.
	Full string
	Wait int // maximum time to wait for a change, in milliseconds
	// Prune says by which read a holder counts as alive: the read with the list of holders, an earlier read, or none.
	Prune   string
	Write   string // how the list of holders is written: check-and-set or blindly
	Entry   string // what a contender does if it cannot acquire its own key
	Claim   string // what a contender does if its write of the list fails
	Compare string // whether a client may be added only below the limit, or also if there are as many holders
	Removes string // the sessions that a release removes from the holders
	Differs string // what a contender does if the stored limit differs from its own
}

// Text is the guide as written; where it is ambiguous, the safer reading.
func Text() Options {
	return Options{
		Verify: BySession, Watch: true, Retries: 3, Full: Fail, Wait: 10, Prune: OneRead, Write: CheckAndSet, Entry: Heeded,
		Claim: Heeded, Compare: Below, Removes: Oneself, Differs: Stored,
	}
}

// Confirmed is the guide with one more request, the one of the option Confirm.
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

// Table has the name, description and values of each option.
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
