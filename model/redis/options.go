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

// MaxServers is how many servers a lock is on at most.
const MaxServers = 5

// Options are the decisions that the text leaves open, and those of its repair. [Text] is the text as it reads;
// [Left] and [Repaired] are the combinations that were proved.
type Options struct {
	Servers int // Redlock's: 1, 3 or 5
	// Lease is T, in milliseconds. LeaseAbove is that of clients with a priority above 1, where it is not 0.
	Lease, LeaseAbove int
	// Entry is what a thief makes of a victim's entry: it takes its place, or is put on top of it.
	Entry string
	// Stolen is how long an entry lives that took another's place: as the thief asked, or at least as long as that.
	Stolen string
	// GiveUp is what a thief without success makes of its entries.
	GiveUp string
	// Victims are those that are asked.
	Victims string
	// Wait is for how much of T acknowledgements are waited for, in percent: f of the text.
	Wait int
	// Unanswered is the result of an acquire if a victim has not acknowledged by then.
	Unanswered string
	// Ack is when a victim acknowledges.
	Ack string
	// Chain is when a thief that waits itself acknowledges. GaveUp is the answer of a client that has stopped
	// waiting.
	Chain, GaveUp string
	// Equal is what becomes of an entry of an equal priority.
	Equal string
	// Validity says from when on T is counted. WaitCounts has the time spent waiting be part of it.
	Validity   string
	WaitCounts bool
	Verify     string // how a holder verifies
	Release    string // how an entry is deleted: if it is one's own, or whatever it is
	Extension  string // what a holder makes of a refused extension
	Margin     int    // milliseconds taken from T for clocks that differ
	Persistent bool   // a server that restarts has its keys
}

// Text is the text as it reads, where it reads one way only, and the safer reading where it does not.
func Text() Options {
	return Options{
		Servers: 1, Lease: 24, Entry: Single, Stolen: OfThief, GiveUp: GiveUpDelete, Victims: EveryVictim, Wait: 100,
		Unanswered: Fail, Ack: AfterWork, Chain: ChainWaits, GaveUp: Silent, Equal: Refuse, Validity: FromSending,
		WaitCounts: true, Verify: ByAsking, Release: Compare, Extension: Heeded, Persistent: true,
	}
}

// Left is the text with two changes. A stolen entry lives at least as long as the one that it replaces. A thief
// without success leaves its entries until they expire. Left needs no more than the text has; its price is time in
// which no client can have the lock.
func Left() Options {
	o := Text()
	o.Stolen, o.GiveUp = Longest, GiveUpLeave
	return o
}

// Repaired keeps the claims that the text's thief overwrites. Each claim has a lease of its own, and a client that
// gives up or releases removes only its own claim. A thief sees every claim below its own and can ask each of those
// clients. A waiting client can acknowledge at once.
func Repaired() Options {
	o := Text()
	o.Entry, o.Chain, o.GaveUp = Claims, ChainAtOnce, Disown
	return o
}

// LeaseOf is T of a client, by its priority, in milliseconds.
func (o *Options) LeaseOf(priority uint8) int64 {
	if priority > 1 && o.LeaseAbove > 0 {
		return int64(o.LeaseAbove)
	}
	return int64(o.Lease)
}

// valid is for how long a client of that priority may believe what it was granted, from when validity begins.
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

// Facts implements [lock.Settings]. An acquire is not tried again, but every server may refuse it.
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

// number is an option that is a number. Minimising does not change it: 0 may be none.
func number(name, doc string, most int, field func(*Options) *int) lock.Field[Options] {
	f := lock.Number(name, doc, most, field)
	f.Short = nil
	return f
}

// majority is how many servers have to agree.
func (o *Options) majority() int { return o.Servers/2 + 1 }
