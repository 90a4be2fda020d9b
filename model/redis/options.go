package redis

import (
	"errors"

	"github.com/lockproof/lockproof/model/lock"
)

// The values of the options that are words.
const (
	Single = "single"
	Claims = "claims"

	OfThief = "thief"
	Longest = "longest"

	GiveUpDelete = "delete"
	GiveUpLeave  = "leave"

	EveryVictim = "every"
	FirstVictim = "first"
	NoVictim    = "none"

	Fail    = "fail"
	Proceed = "proceed"

	AfterWork  = "after-work"
	BeforeWork = "before-work"

	ChainWaits  = "after-own"
	ChainAtOnce = "at-once"

	Silent = "silent"
	Disown = "not-mine"

	Refuse = "refuse"
	Take   = "steal"

	FromSending = "sending"
	FromReply   = "reply"

	ByAsking = "ask"
	ByClock  = "clock"

	Compare   = "compare"
	Unguarded = "delete"

	Heeded  = "heeded"
	Ignored = "ignored"
)

// MaxServers is the largest number of servers of a lock.
const MaxServers = 5

// Options are the decisions that the text leaves open, and those of its repair. [Text] is the text as written; [Left]
// and [Repaired] are the combinations that were proved.
type Options struct {
	Servers int // Redlock's: 1, 3 or 5
	// Lease is T, in milliseconds. LeaseAbove, if not 0, is T for clients with a priority above 1.
	Lease, LeaseAbove int
	// Entry says what a thief does with a victim's entry: replace it, or put its own on top.
	Entry string
	// Stolen is the lifetime of an entry that replaces another: as the thief asked, or at least that of the old one.
	Stolen string
	// GiveUp says what a thief without success does with its entries.
	GiveUp string
	// Victims says which victims are asked.
	Victims string
	// Wait is the part of T for which a thief waits for acknowledgements, in percent: f of the text.
	Wait int
	// Unanswered is the result of an acquire if a victim has not acknowledged in that time.
	Unanswered string
	// Ack says when a victim acknowledges.
	Ack string
	// Chain says when a thief that is itself waiting acknowledges. GaveUp is the answer of a client that has stopped
	// waiting.
	Chain, GaveUp string
	// Equal says what an acquire does if the entry has an equal priority.
	Equal string
	// Validity says when T begins. WaitCounts makes the time spent waiting part of T.
	Validity   string
	WaitCounts bool
	Verify     string // how a holder verifies
	Release    string // how an entry is deleted: only the client's own, or any
	Extension  string // what a holder does after a refused extension
	Margin     int    // milliseconds subtracted from T because clocks differ
	Persistent bool   // a server keeps its keys over a restart
}

// Text is the text as written; where it is ambiguous, the safer reading.
func Text() Options {
	return Options{
		Servers: 1, Lease: 24, Entry: Single, Stolen: OfThief, GiveUp: GiveUpDelete, Victims: EveryVictim, Wait: 100,
		Unanswered: Fail, Ack: AfterWork, Chain: ChainWaits, GaveUp: Silent, Equal: Refuse, Validity: FromSending,
		WaitCounts: true, Verify: ByAsking, Release: Compare, Extension: Heeded, Persistent: true,
	}
}

// Left is the text with two changes. A stolen entry lives at least as long as the one that it replaces. A thief
// without success leaves its entries until they expire. Left needs nothing beyond the text; its price is time in
// which no client can have the lock.
func Left() Options {
	o := Text()
	o.Stolen, o.GiveUp = Longest, GiveUpLeave
	return o
}

// Repaired keeps the claims that the text's thief overwrites. Each claim has its own lease, and a client that gives
// up or releases removes only its own claim. A thief sees every claim below its own and can ask each of those
// clients. A waiting client can acknowledge at once.
func Repaired() Options {
	o := Text()
	o.Entry, o.Chain, o.GaveUp = Claims, ChainAtOnce, Disown
	return o
}

// LeaseOf is T for a client of that priority, in milliseconds.
func (o *Options) LeaseOf(priority uint8) int64 {
	if priority > 1 && o.LeaseAbove > 0 {
		return int64(o.LeaseAbove)
	}
	return int64(o.Lease)
}

// valid is how long a client of that priority may believe in a grant, counted from the beginning of its validity.
func (o *Options) valid(priority uint8) int64 { return o.LeaseOf(priority) - int64(o.Margin) }

// Check implements [lock.Settings].
func (o Options) Check() error {
	switch {
	case o.Servers != 1 && o.Servers != 3 && o.Servers != 5:
		return errors.New("option servers: expected 1, 3 or 5")
	case o.Lease <= o.Margin || o.LeaseAbove > 0 && o.LeaseAbove <= o.Margin:
		return errors.New("options lease and margin: nothing is left of the lease")
	case o.Entry == Claims && o.Equal == Take:
		return errors.New("options entry and equal: a claim is never put on top of one of an equal priority; take entry=single")
	case o.Entry == Claims && o.Release == Unguarded:
		return errors.New("options entry and release: of claims each client deletes its own; take entry=single")
	case o.Entry == Claims && o.Stolen == Longest:
		return errors.New("options entry and stolen: a claim has a lease of its own; take entry=single")
	}
	return nil
}

// Facts implements [lock.Settings]. An acquire does not try again, but every server may refuse it.
func (o Options) Facts() lock.Facts { return lock.Facts{Retries: o.Servers - 1} }

// Table describes the options. The defaults are the repaired protocol on one server.
var Table = lock.NewTable("redis", Repaired(),
	number("servers", "how many servers there are, of which a majority has to agree: 1, 3 or 5", 5, func(o *Options) *int { return &o.Servers }),
	number("lease", "T, how long a lock is held at most, in milliseconds", 60_000, func(o *Options) *int { return &o.Lease }),
	number("lease-above", "the same for clients with a priority above 1, if it is another; 0 is the same", 60_000, func(o *Options) *int { return &o.LeaseAbove }),
	word("entry", "what a thief makes of its victim's entry: it takes the entry's place, or puts its claim on top of it", func(o *Options) *string { return &o.Entry }, Claims, Single),
	word("stolen", "how long an entry lives that took another's place: as long as the thief asks for, or at least as long as that one", func(o *Options) *string { return &o.Stolen }, OfThief, Longest),
	word("give-up", "what a thief without success makes of its entries", func(o *Options) *string { return &o.GiveUp }, GiveUpDelete, GiveUpLeave),
	word("victims", "who is asked", func(o *Options) *string { return &o.Victims }, EveryVictim, FirstVictim, NoVictim),
	number("wait", "f: for how much of T acknowledgements are waited for, in percent", 1000, func(o *Options) *int { return &o.Wait }),
	word("unanswered", "what comes of an acquire whose victims have not all acknowledged by then", func(o *Options) *string { return &o.Unanswered }, Fail, Proceed),
	word("ack", "when a victim acknowledges: after it has stopped working, or before", func(o *Options) *string { return &o.Ack }, AfterWork, BeforeWork),
	word("chain", "when a thief acknowledges that waits itself: after its own victims, or at once", func(o *Options) *string { return &o.Chain }, ChainAtOnce, ChainWaits),
	word("gave-up", "what a thief answers that gave up while its victims may work on: nothing, or that the lock is not its own", func(o *Options) *string { return &o.GaveUp }, Disown, Silent),
	word("equal", "what becomes of an acquire that meets an equal priority", func(o *Options) *string { return &o.Equal }, Refuse, Take),
	word("validity", "from when on T is counted: from before the first command is sent, or from the last reply", func(o *Options) *string { return &o.Validity }, FromSending, FromReply),
	lock.Toggle("wait-counts", "the time spent waiting for acknowledgements is part of T", func(o *Options) *bool { return &o.WaitCounts }),
	word("verify", "how a holder verifies: it asks the servers, or looks at its clock", func(o *Options) *string { return &o.Verify }, ByAsking, ByClock),
	word("release", "how an entry is deleted: if it is one's own, or whatever it is", func(o *Options) *string { return &o.Release }, Compare, Unguarded),
	word("extension", "what a holder makes of a refused extension", func(o *Options) *string { return &o.Extension }, Heeded, Ignored),
	number("margin", "milliseconds taken from T for clocks that differ", 60_000, func(o *Options) *int { return &o.Margin }),
	lock.Toggle("persistent", "a server that restarts has its keys", func(o *Options) *bool { return &o.Persistent }),
)

func word(name, doc string, field func(*Options) *string, values ...string) lock.Field[Options] {
	return lock.Word(name, doc, field, values...)
}

// number is an option that is a number. Minimising does not change it, since 0 may mean none.
func number(name, doc string, most int, field func(*Options) *int) lock.Field[Options] {
	f := lock.Number(name, doc, most, field)
	f.Short = nil
	return f
}

// majority is the number of servers that must agree.
func (o *Options) majority() int { return o.Servers/2 + 1 }
