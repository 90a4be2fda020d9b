package amqplock

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Values of the options of type string.
const (
	Descending = "descending"
	Ascending  = "ascending"

	ByPublish = "publish"
	ByPassive = "passive"

	RestartFirst  = "first"
	RestartStay   = "stay"
	RestartRandom = "random"
	RestartAny    = "any"

	Intended = "intended"
	Literal  = "literal"

	Confirms     = "confirms"
	Transactions = "transactions"
	NoConfirms   = "none"

	ClaimSeen   = "seen"
	ClaimUnseen = "unseen"

	VerifySlot  = "slot"
	VerifyClaim = "claim"
	VerifyBoth  = "both"

	AtCommit  = "commit"
	AtPublish = "publish"

	DeleteB         = "delete"
	CloseConnection = "close-connection"
	CloseChannel    = "close-channel"

	OwnConnection    = "own"
	SharedConnection = "shared"
)

// Options are the choices that the guidelines leave open, and TxRouting, in which brokers differ. The defaults
// ([DefaultOptions]) are safe.
type Options struct {
	Order         string // order of deleting A queues: ascending or descending
	Overshoot     int    // number of queues beyond the last slot that are deleted too: T of the guidelines
	AdminMutex    bool   // administration takes the administration mutex first
	AdminRetries  int    // further attempts at the administration mutex after the first
	Existence     string // how a probe asks whether a queue exists: publish or passive declare
	VerifyFirst   bool   // acquire probes the slot again before it returns success
	Claim         string // before claiming a slot: seen probes for a holder, unseen does not
	Verify        string // what verify checks: the slot, the client's own claim, or both
	Restart       string // where the scan continues after RESOURCE_LOCKED, such as first: at slot 1
	Retries       int    // number of further attempts after a claim met RESOURCE_LOCKED
	Jitter        int    // maximum random delay before each of the Retries further attempts, in milliseconds
	AddReading    string // how add reads the guidelines: intended, or literal (declares only A[C+X])
	RemoveReading string // how removal reads the guidelines: intended, or literal (from C down to C-X, or to 0)
	Confirm       string // how the broker confirms a publish: confirms, transactions or none
	TxRouting     string // when the broker routes a transaction's messages: at commit or publish
	Durable       bool   // A queues survive a broker restart
	Arguments     amqp.Arguments
	Release       string // how a held slot is released: by deleting its queue or by closing
	Pipeline      int    // slots probed in one round trip; 0 waits for each reply
	Polls         int    // number of polls after the first, before a wait gives up
	Connection    string // own, or shared: one connection for all clients, with a channel each
}

// DefaultOptions are the default options, which are safe and cheap.
func DefaultOptions() lock.Options { return Table.Defaults() }

// Table has the name, description and values of each option, in the order of [Options].
var Table = lock.NewTable("", Options{
	Order: Descending, AdminMutex: true, AdminRetries: 3, Existence: ByPublish, VerifyFirst: true, Claim: ClaimSeen, Verify: VerifySlot,
	Restart: RestartFirst, Retries: 3, AddReading: Intended, RemoveReading: Intended,
	Confirm: Confirms, TxRouting: AtCommit, Durable: true, Release: DeleteB, Pipeline: 2, Polls: 3, Connection: OwnConnection,
	Arguments: amqp.Arguments{Has: amqp.HasMaxLength},
},
	lock.Word("order", "in which order A queues are deleted", func(o *Options) *string { return &o.Order }, Descending, Ascending),
	lock.Number("overshoot", "slots beyond the last that administration prunes as well", 8, func(o *Options) *int { return &o.Overshoot }),
	lock.Toggle("admin-mutex", "administration takes the mutex first", func(o *Options) *bool { return &o.AdminMutex }),
	lock.Number("admin-retries", "attempts at the administration mutex after the first", 100, func(o *Options) *int { return &o.AdminRetries }),
	lock.Word("existence", "how a queue's existence is determined", func(o *Options) *string { return &o.Existence }, ByPublish, ByPassive),
	lock.Toggle("verify-first", "acquire verifies before it returns success", func(o *Options) *bool { return &o.VerifyFirst }),
	lock.Word("claim", "seen looks whether somebody holds a slot, or a mutex, before it is claimed; unseen claims it, and mends the channel that breaks if somebody does", func(o *Options) *string { return &o.Claim }, ClaimSeen, ClaimUnseen),
	lock.Word("verify", "what verify asks for: the slot's A queue, the claim by declaring the client's own B queue again, or both", func(o *Options) *string { return &o.Verify }, VerifySlot, VerifyClaim, VerifyBoth),
	lock.Word("restart", "where the scan goes on after RESOURCE_LOCKED: at slot 1, at the one at hand, at a random one up to that, or at any number at random", func(o *Options) *string { return &o.Restart }, RestartFirst, RestartStay, RestartRandom, RestartAny),
	lock.Number("retries", "attempts at claiming a slot after the first that met RESOURCE_LOCKED, unless it is claimed unseen", 100, func(o *Options) *int { return &o.Retries }),
	jitter,
	lock.Word("add-reading", "intended declares A[C+1] to A[C+X]; literal declares A[C+X] only", func(o *Options) *string { return &o.AddReading }, Intended, Literal),
	lock.Word("remove-reading", "intended deletes X slots; literal deletes from C down to C-X, destroying down to 0", func(o *Options) *string { return &o.RemoveReading }, Intended, Literal),
	lock.Word("confirm", "what tells that a probing publish was handled; with none, nothing is published", func(o *Options) *string { return &o.Confirm }, Confirms, Transactions, NoConfirms),
	lock.Word("tx-routing", "when the broker routes a transaction's messages: at the commit as RabbitMQ 3, when published as RabbitMQ 4", func(o *Options) *string { return &o.TxRouting }, AtCommit, AtPublish),
	lock.Toggle("durable", "A queues survive a broker restart", func(o *Options) *bool { return &o.Durable }),
	argument("max-length", amqp.HasMaxLength, "x-max-length of A and B queues; 0 keeps probes from piling up", func(a *amqp.Arguments) *uint32 { return &a.MaxLength }),
	overflowOption,
	argument("message-ttl", amqp.HasMessageTTL, "x-message-ttl of A and B queues, in milliseconds", func(a *amqp.Arguments) *uint32 { return &a.MessageTTL }),
	argument("expires", amqp.HasExpires, "x-expires of A queues, in milliseconds", func(a *amqp.Arguments) *uint32 { return &a.Expires }),
	lock.Word("release", "how a held slot is relinquished", func(o *Options) *string { return &o.Release }, DeleteB, CloseConnection, CloseChannel),
	lock.Number("pipeline", "slots probed in one round trip; 0 waits for every reply", 8, func(o *Options) *int { return &o.Pipeline }),
	lock.Number("polls", "how often wait looks before it gives up", 1000, func(o *Options) *int { return &o.Polls }),
	lock.Word("connection", "one connection for each client, or one for all with a channel each", func(o *Options) *string { return &o.Connection }, OwnConnection, SharedConnection),
)

// Check implements [lock.Settings].
func (o Options) Check() error {
	rejects := o.Arguments.Has&amqp.HasMaxLength != 0 && o.Arguments.Overflow == amqp.RejectPublish
	if rejects && o.Confirm == Transactions && o.Existence == ByPublish {
		return errors.New("options overflow=reject-publish and confirm=transactions: a commit fails with every probe " +
			"that a full queue rejects; choose overflow=drop-head or confirm=confirms")
	}
	if o.Confirm == NoConfirms && o.Existence == ByPublish {
		return errors.New("option confirm=none: nothing tells whether a probing publish was handled; choose existence=passive")
	}
	return nil
}

// Facts implements [lock.Settings].
func (o Options) Facts() lock.Facts {
	retries := o.Retries
	if o.Claim == ClaimUnseen {
		retries = lock.MaxSlots // a claim without a probe can be refused once at each slot
	}
	return lock.Facts{
		Retries: retries, AdminRetries: o.AdminRetries, Polls: o.Polls,
		SharedSession: o.Connection == SharedConnection, Random: o.Restart == RestartRandom || o.Restart == RestartAny || o.Jitter > 0,
	}
}

// jitter is the option Jitter. Its earlier name was skew. Minimising a scenario leaves it as it is, since a smaller
// delay makes no execution shorter.
var jitter = func() lock.Field[Options] {
	f := lock.Number("jitter", "largest random delay before such an attempt, in milliseconds", 200, func(o *Options) *int { return &o.Jitter })
	f.Was, f.Short = "skew", nil
	return f
}()

func argument(name string, bit amqp.ArgumentSet, doc string, field func(*amqp.Arguments) *uint32) lock.Field[Options] {
	return lock.Field[Options]{Option: lock.Option{Name: name, Values: "none|0-3600000", Doc: doc},
		Get: func(o *Options) string {
			if o.Arguments.Has&bit == 0 {
				return "none"
			}
			return strconv.Itoa(int(*field(&o.Arguments)))
		},
		Set: func(o *Options, v string) error {
			if v == "none" {
				o.Arguments.Has &^= bit
				*field(&o.Arguments) = 0
				return nil
			}
			n, err := strconv.ParseUint(v, 10, 32)
			if err != nil || n > 3600000 {
				return fmt.Errorf("%q: expected none or a number from 0 to 3600000", v)
			}
			o.Arguments.Has |= bit
			*field(&o.Arguments) = uint32(n)
			return nil
		}}
}

var overflowOption = lock.Field[Options]{Option: lock.Option{Name: "overflow", Values: "drop-head|reject-publish", Doc: "x-overflow of A and B queues"},
	Get: func(o *Options) string {
		if o.Arguments.Overflow == amqp.RejectPublish {
			return "reject-publish"
		}
		return "drop-head"
	},
	Set: func(o *Options, v string) error {
		switch v {
		case "drop-head":
			o.Arguments.Has, o.Arguments.Overflow = o.Arguments.Has&^amqp.HasOverflow, amqp.DropHead
		case "reject-publish":
			o.Arguments.Has, o.Arguments.Overflow = o.Arguments.Has|amqp.HasOverflow, amqp.RejectPublish
		default:
			return fmt.Errorf("%q: expected one of drop-head, reject-publish", v)
		}
		return nil
	}}
