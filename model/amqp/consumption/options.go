package consumption

import (
	"errors"

	"github.com/lockproof/lockproof/model/lock"
)

// Server is the name of the backend for these locks. Their server is the same as AMQP's; their options, machines and
// truth are others.
const Server = "amqp-consumption"

// The values of the options that are words.
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

// Settings are the decisions that the texts leave open, and those that mutants get wrong.
type Settings struct {
	Verify     string // the evidence by which verify decides
	Creator    string // the client that declares the lock's queue
	Durable    bool   // the lock's queue survives a broker restart
	AutoDelete bool   // the queue is deleted with its last consumer
	Exclusive  bool   // the mutexes' consumer is exclusive
	Notify     bool   // the driver announces consumer_cancel_notify
	Destroy    string // what destroying a persistent mutex does to its holder
	Acquire    string // how a token is taken
	Prefetch   int    // number of tokens that a consumer may have at once; 0 is unlimited
	Standing   bool   // the consumer stays after it has received its token
	Release    string // how a token, or the mutex, is released
	Resend     bool   // a token whose publish was not answered is published again
	Persistent bool   // tokens survive a broker restart
	Admin      string // how a semaphore is administered
	CountMutex bool   // counting an accounted semaphore takes the administration mutex
	AdminTries int    // further attempts at the administration mutex, and at held tokens, after the first
	Polls      int    // number of times that wait looks before it gives up
	Timeout    int    // the broker's consumer_timeout in milliseconds; 0 is none
}

// Table makes the options, in the order of [Settings].
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

// as is a number that minimising does not change, since another number is another lock, or another broker.
func as(f lock.Field[Settings]) lock.Field[Settings] {
	f.Short = nil
	return f
}

// DefaultOptions are the safe and cheap settings.
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
