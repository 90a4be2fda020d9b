package consumption

import (
	"errors"

	"github.com/lockproof/lockproof/model/lock"
)

// Server is the backend's name for these locks. They run on the same broker as the other AMQP locks, but have their own
// options and machines.
const Server = "amqp-consumption"

// Values of the settings of type string.
const (
	ByAnswer = "answer"
	ByCount  = "count"
	ByBelief = "belief"

	ByClient = "client"
	ByAdmin  = "admin"

	IfUnused = "if-unused"
	Evict    = "evict"

	ByGet     = "get"
	ByConsume = "consume"

	Nack         = "nack"
	CloseChannel = "close-channel"
	AckPublish   = "ack-publish"
	PublishAck   = "publish-ack"
	Transaction  = "transaction"

	Tokens    = "tokens"
	Accounted = "accounted"
)

// Settings are the options: choices that the guidelines leave open, and choices that only mutants make.
type Settings struct {
	Verify     string // how verify decides: by the reply, by the number of consumers, or without a command
	Creator    string // who declares the lock's queue: client or admin
	Durable    bool   // the lock's queue survives a broker restart
	AutoDelete bool   // the queue is deleted with its last consumer
	Exclusive  bool   // the holder of a mutex consumes exclusively
	Notify     bool   // the client asks to be notified if its queue is deleted (consumer_cancel_notify)
	Destroy    string // destroying a held persistent mutex fails (if-unused), or evicts its holder
	Acquire    string // how a token is taken: get, or consume, which waits
	Prefetch   int    // number of tokens that a consumer may have at once; 0 is unlimited
	Standing   bool   // the consumer is not cancelled after it has received its token
	Release    string // how a token or mutex is released, such as nack or close-channel
	Resend     bool   // a token whose publish was not answered is published again
	Persistent bool   // tokens survive a broker restart
	Admin      string // how a semaphore is administered: tokens or accounted
	CountMutex bool   // a count of an accounted semaphore takes the administration mutex
	AdminTries int    // further attempts at the administration mutex, or at tokens that are held
	Polls      int    // number of polls after the first, before a wait gives up
	Timeout    int    // the broker's consumer_timeout in milliseconds; 0 is no timeout
}

// Table has the name, description and values of each option, in the order of [Settings].
var Table = lock.NewTable(Server, Settings{
	Verify: ByAnswer, Creator: ByClient, Durable: true, Exclusive: true, Notify: true, Destroy: IfUnused, Acquire: ByGet,
	Prefetch: 1, Release: Nack, Persistent: true, Admin: Accounted, CountMutex: true, AdminTries: 1, Polls: 1,
},
	lock.Word("verify", "what verify takes for an answer: one on the channel that holds the lock, the number of consumers that it has, or none: what the client believes", func(o *Settings) *string { return &o.Verify }, ByAnswer, ByCount, ByBelief),
	lock.Word("creator", "who declares the lock's queue: every client that acquires, or its administrator", func(o *Settings) *string { return &o.Creator }, ByClient, ByAdmin),
	lock.Toggle("durable", "the lock's queue survives a broker restart", func(o *Settings) *bool { return &o.Durable }),
	lock.Toggle("auto-delete", "a true mutex's queue goes with its last consumer", func(o *Settings) *bool { return &o.AutoDelete }),
	lock.Toggle("exclusive", "a mutex's holder consumes exclusively", func(o *Settings) *bool { return &o.Exclusive }),
	lock.Toggle("cancel-notify", "clients announce consumer_cancel_notify, and are told when their consumer is gone", func(o *Settings) *bool { return &o.Notify }),
	lock.Word("destroy", "destroying a persistent mutex fails while it is held, or evicts its holder", func(o *Settings) *string { return &o.Destroy }, IfUnused, Evict),
	lock.Word("acquire", "how a token is taken: by basic.get, or by a consumer that waits", func(o *Settings) *string { return &o.Acquire }, ByGet, ByConsume),
	as(lock.Number("prefetch", "how many tokens a consumer may have at once; 0 is any number", 8, func(o *Settings) *int { return &o.Prefetch })),
	lock.Toggle("standing-consumer", "the consumer stays when it has got its token", func(o *Settings) *bool { return &o.Standing }),
	lock.Word("release", "how a token is given back; a mutex is given up by closing the channel, or else by basic.cancel", func(o *Settings) *string { return &o.Release }, Nack, CloseChannel, AckPublish, PublishAck, Transaction),
	lock.Toggle("resend", "a token whose publish was not answered is published again", func(o *Settings) *bool { return &o.Resend }),
	lock.Toggle("persistent", "tokens survive a broker restart", func(o *Settings) *bool { return &o.Persistent }),
	lock.Word("admin", "how a semaphore is administered: by its tokens alone, or with a queue that accounts for them, in transactions", func(o *Settings) *string { return &o.Admin }, Accounted, Tokens),
	lock.Toggle("count-mutex", "counting an accounted semaphore takes the administration mutex", func(o *Settings) *bool { return &o.CountMutex }),
	lock.Number("admin-retries", "attempts at the administration mutex, and at what others hold, after the first", 100, func(o *Settings) *int { return &o.AdminTries }),
	lock.Number("polls", "how often wait looks before it gives up", 100, func(o *Settings) *int { return &o.Polls }),
	as(lock.Number("consumer-timeout", "the broker's consumer_timeout in milliseconds; 0 is none", 3600000, func(o *Settings) *int { return &o.Timeout })),
)

// as marks an option that minimising a scenario must not change, since another number would mean another lock or
// broker.
func as(f lock.Field[Settings]) lock.Field[Settings] {
	f.Short = nil
	return f
}

// DefaultOptions are the default options, which are safe and cheap.
func DefaultOptions() lock.Options { return Table.Defaults() }

// Check implements [lock.Settings].
func (o Settings) Check() error {
	switch {
	case o.AutoDelete && o.Creator != ByClient:
		return errors.New("options auto-delete=true and creator=admin: the queue would go with its first holder; choose creator=client")
	case o.Standing && o.Acquire != ByConsume:
		return errors.New("options standing-consumer=true and acquire=get: there is no consumer; choose acquire=consume")
	}
	return nil
}

// Facts implements [lock.Settings].
func (o Settings) Facts() lock.Facts {
	return lock.Facts{AdminRetries: o.AdminTries, Polls: o.Polls}
}
