package redis

import (
	"errors"

	"github.com/lockproof/lockproof/model/lock"
)

// Values of the options of type string.
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

// MaxServers is the maximum number of servers of one lock.
const MaxServers = 5

// Options are the choices that the protocol's text leaves open, and those of its repair. [Text] is the text as written.
// [Left] and [Repaired] are the combinations that should violate no property.
type Options struct {
	Servers int // number of servers, as in Redlock: 1, 3 or 5
	// Lease is the duration of a lease (T in the text) in milliseconds. LeaseAbove is that for priorities above 1; 0
	// means Lease.
	Lease, LeaseAbove int
	// Entry says what a thief does with its victim's entry: it replaces it (single), or puts its own claim on top
	// (claims).
	Entry string
	// Stolen says how long an entry lives that a thief has put in place of another entry: as long as the thief asks, or
	// at least as long as the replaced entry.
	Stolen string
	// GiveUp says what a thief that gives up does with its entries: delete or leave.
	GiveUp string
	// Victims says which victims a thief asks to stop: every, first or none.
	Victims string
	// Wait is how long a thief waits for acknowledgements, in percent of T: f in the text.
	Wait int
	// Unanswered is the result of an acquire if a victim has not acknowledged at the end of Wait: the acquire fails, or
	// proceeds.
	Unanswered string
	// Ack says when a victim acknowledges: after or before it stops working.
	Ack string
	// Chain says when a thief that is still waiting acknowledges to its own thief: at once, or after its victims have
	// acknowledged. GaveUp says how a client answers its thief after it has given up: silent or not-mine.
	Chain, GaveUp string
	// Equal says what an acquire does if the entry has the same priority: it fails (refuse), or steals.
	Equal string
	// Validity says when T begins: when the first command is sent, or at the last reply. WaitCounts says that the time
	// spent waiting is part of T.
	Validity   string
	WaitCounts bool
	Verify     string // how a holder verifies: by asking the servers, or by its clock
	Release    string // a release deletes the entry only if it is the client's own (compare), or always (delete)
	Extension  string // what a holder does if an extension is refused: heeded or ignored
	Margin     int    // milliseconds subtracted from T, because clocks differ
	Persistent bool   // a server keeps its keys when it restarts
}

// Text is the protocol's text as written. Where it is ambiguous, it is read in the safer way.
func Text() Options {
	return Options{
		Servers: 1, Lease: 24, Entry: Single, Stolen: OfThief, GiveUp: GiveUpDelete, Victims: EveryVictim, Wait: 100,
		Unanswered: Fail, Ack: AfterWork, Chain: ChainWaits, GaveUp: Silent, Equal: Refuse, Validity: FromSending,
		WaitCounts: true, Verify: ByAsking, Release: Compare, Extension: Heeded, Persistent: true,
	}
}

// Left is the text with two changes. A stolen entry lives at least as long as the one that it replaces, and a thief
// that gives up leaves its entries until they expire. Left needs nothing that the text does not have. Its disadvantage
// is that for some time no client can get the lock.
func Left() Options {
	o := Text()
	o.Stolen, o.GiveUp = Longest, GiveUpLeave
	return o
}

// Repaired keeps the claims that a thief of the text overwrites. Each claim has its own lease, and a client that gives
// up or releases removes only its own claim. A thief sees all claims below its own, and can ask all their clients. A
// client that waits can acknowledge at once.
func Repaired() Options {
	o := Text()
	o.Entry, o.Chain, o.GaveUp = Claims, ChainAtOnce, Disown
	return o
}

// LeaseOf is the duration of a lease (T) for a client of that priority, in milliseconds.
func (o *Options) LeaseOf(priority uint8) int64 {
	if priority > 1 && o.LeaseAbove > 0 {
		return int64(o.LeaseAbove)
	}
	return int64(o.Lease)
}

// valid is how long a client of that priority may believe that it holds the lock, in milliseconds, from the moment that
// Validity says.
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

// Facts implements [lock.Settings]. An acquire makes one attempt, but each further server may refuse it as well.
func (o Options) Facts() lock.Facts { return lock.Facts{Retries: o.Servers - 1} }

// Table has the name, description and values of each option. The defaults are the repaired protocol on one server.
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

// number describes an option that is a number. Minimising a scenario leaves it as it is, since 0 may mean "none".
func number(name, doc string, most int, field func(*Options) *int) lock.Field[Options] {
	f := lock.Number(name, doc, most, field)
	f.Short = nil
	return f
}

// majority is the number of servers that must say yes.
func (o *Options) majority() int { return o.Servers/2 + 1 }
