package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
)

// The values of the options that are words.
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

	AtCommit  = "commit"
	AtPublish = "publish"

	DeleteB         = "delete"
	CloseConnection = "close-connection"
	CloseChannel    = "close-channel"

	OwnConnection    = "own"
	SharedConnection = "shared"
)

// Options are the choices that the guidelines leave open, and one in which brokers differ (TxRouting).
// [DefaultOptions] are the safe ones.
type Options struct {
	Order         string // in which A queues are deleted
	Overshoot     int    // T of the guidelines: how many slots beyond the last are pruned as well
	AdminMutex    bool   // administration takes the mutex first
	AdminRetries  int    // attempts at the administration mutex after the first
	Existence     string // how a queue's existence is determined
	VerifyFirst   bool   // acquire verifies before it returns success
	Restart       string // where the scan goes on after RESOURCE_LOCKED
	Retries       int    // attempts at claiming after the first that met RESOURCE_LOCKED
	Jitter        int    // random delay before such an attempt, 0 to Skew milliseconds
	AddReading    string // literal: add declares A[C+X] only
	RemoveReading string // literal: remove deletes from C down to C-X, destroy down to 0
	Confirm       string // what tells that a probing publish was handled
	TxRouting     string // when a transaction's messages are routed: the broker's choice, not the lock's
	Durable       bool   // A queues survive a broker restart
	Arguments     amqp.Arguments
	Release       string // how a held slot is relinquished
	Pipeline      int    // slots probed in one round trip; 0 waits for each reply
	Polls         int    // how often wait looks before it gives up
	Connection    string // own, or one connection for all clients with a channel each
}

// DefaultOptions are the safe and cheap settings.
func DefaultOptions() Options {
	return Options{
		Order: Descending, AdminMutex: true, AdminRetries: 3, Existence: ByPublish, VerifyFirst: true,
		Restart: RestartFirst, Retries: 3, AddReading: Intended, RemoveReading: Intended,
		Confirm: Confirms, TxRouting: AtCommit, Durable: true, Release: DeleteB, Pipeline: 2, Polls: 3, Connection: OwnConnection,
		Arguments: amqp.Arguments{Has: amqp.HasMaxLength},
	}
}

// Option describes one option: its name in files and flags, its values, and how to read and set it.
type Option struct {
	Name   string
	Values string // what may be given
	Doc    string
	Get    func(*Options) string
	Set    func(*Options, string) error
}

// OptionTable lists every option, in the order of [Options].
var OptionTable = []Option{
	word("order", "in which order A queues are deleted", func(o *Options) *string { return &o.Order }, Descending, Ascending),
	number("overshoot", "slots beyond the last that administration prunes as well", 8, func(o *Options) *int { return &o.Overshoot }),
	toggle("admin-mutex", "administration takes the mutex first", func(o *Options) *bool { return &o.AdminMutex }),
	number("admin-retries", "attempts at the administration mutex after the first", 100, func(o *Options) *int { return &o.AdminRetries }),
	word("existence", "how a queue's existence is determined", func(o *Options) *string { return &o.Existence }, ByPublish, ByPassive),
	toggle("verify-first", "acquire verifies before it returns success", func(o *Options) *bool { return &o.VerifyFirst }),
	word("restart", "where the scan goes on after RESOURCE_LOCKED: at slot 1, at the one at hand, at a random one up to that, or at any number at random", func(o *Options) *string { return &o.Restart }, RestartFirst, RestartStay, RestartRandom, RestartAny),
	number("retries", "attempts at claiming a slot after the first that met RESOURCE_LOCKED", 100, func(o *Options) *int { return &o.Retries }),
	number("skew", "largest random delay before such an attempt, in milliseconds", 200, func(o *Options) *int { return &o.Jitter }),
	word("add-reading", "intended declares A[C+1] to A[C+X]; literal declares A[C+X] only", func(o *Options) *string { return &o.AddReading }, Intended, Literal),
	word("remove-reading", "intended deletes X slots; literal deletes from C down to C-X, destroying down to 0", func(o *Options) *string { return &o.RemoveReading }, Intended, Literal),
	word("confirm", "what tells that a probing publish was handled", func(o *Options) *string { return &o.Confirm }, Confirms, Transactions),
	word("tx-routing", "when the broker routes a transaction's messages: at the commit as RabbitMQ 3, when published as RabbitMQ 4", func(o *Options) *string { return &o.TxRouting }, AtCommit, AtPublish),
	toggle("durable", "A queues survive a broker restart", func(o *Options) *bool { return &o.Durable }),
	argument("max-length", amqp.HasMaxLength, "x-max-length of A and B queues; 0 keeps probes from piling up", func(a *amqp.Arguments) *uint32 { return &a.MaxLength }),
	overflowOption,
	argument("message-ttl", amqp.HasMessageTTL, "x-message-ttl of A and B queues, in milliseconds", func(a *amqp.Arguments) *uint32 { return &a.MessageTTL }),
	argument("expires", amqp.HasExpires, "x-expires of A queues, in milliseconds", func(a *amqp.Arguments) *uint32 { return &a.Expires }),
	word("release", "how a held slot is relinquished", func(o *Options) *string { return &o.Release }, DeleteB, CloseConnection, CloseChannel),
	number("pipeline", "slots probed in one round trip; 0 waits for every reply", 8, func(o *Options) *int { return &o.Pipeline }),
	number("polls", "how often wait looks before it gives up", 1000, func(o *Options) *int { return &o.Polls }),
	word("connection", "one connection for each client, or one for all with a channel each", func(o *Options) *string { return &o.Connection }, OwnConnection, SharedConnection),
}

// ErrUnknownOption is, somewhere in it, the error of an option's name that none has.
var ErrUnknownOption = errors.New("not known")

// Set changes one option by name.
func (o *Options) Set(name, value string) error {
	i := slices.IndexFunc(OptionTable, func(opt Option) bool { return opt.Name == name })
	if i < 0 {
		return fmt.Errorf("option %q is %w", name, ErrUnknownOption)
	}
	if err := OptionTable[i].Set(o, value); err != nil {
		return fmt.Errorf("option %s: %w", name, err)
	}
	return nil
}

// Check reports options that cannot be had together, whatever each is for itself.
func (o *Options) Check() error {
	rejects := o.Arguments.Has&amqp.HasMaxLength != 0 && o.Arguments.Overflow == amqp.RejectPublish
	if rejects && o.Confirm == Transactions && o.Existence == ByPublish {
		return errors.New("options overflow=reject-publish and confirm=transactions: a commit fails with every probe " +
			"that a full queue rejects; choose overflow=drop-head or confirm=confirms")
	}
	return nil
}

// Changed lists the options that differ from the defaults, as name and value.
func (o Options) Changed() [][2]string {
	def := DefaultOptions()
	var out [][2]string
	for _, opt := range OptionTable {
		if v := opt.Get(&o); v != opt.Get(&def) {
			out = append(out, [2]string{opt.Name, v})
		}
	}
	return out
}

func word(name, doc string, field func(*Options) *string, values ...string) Option {
	return Option{Name: name, Values: strings.Join(values, "|"), Doc: doc,
		Get: func(o *Options) string { return *field(o) },
		Set: func(o *Options, v string) error {
			if !slices.Contains(values, v) {
				return fmt.Errorf("%q: expected one of %s", v, strings.Join(values, ", "))
			}
			*field(o) = v
			return nil
		}}
}

func number(name, doc string, most int, field func(*Options) *int) Option {
	return Option{Name: name, Values: fmt.Sprintf("0-%d", most), Doc: doc,
		Get: func(o *Options) string { return strconv.Itoa(*field(o)) },
		Set: func(o *Options, v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 || n > most {
				return fmt.Errorf("%q: expected a number from 0 to %d", v, most)
			}
			*field(o) = n
			return nil
		}}
}

func toggle(name, doc string, field func(*Options) *bool) Option {
	return Option{Name: name, Values: "true|false", Doc: doc,
		Get: func(o *Options) string { return strconv.FormatBool(*field(o)) },
		Set: func(o *Options, v string) error {
			if v != "true" && v != "false" {
				return fmt.Errorf("%q: expected true or false", v)
			}
			*field(o) = v == "true"
			return nil
		}}
}

func argument(name string, bit amqp.ArgumentSet, doc string, field func(*amqp.Arguments) *uint32) Option {
	return Option{Name: name, Values: "none|0-3600000", Doc: doc,
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

var overflowOption = Option{Name: "overflow", Values: "drop-head|reject-publish", Doc: "x-overflow of A and B queues",
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

// MarshalJSON writes the options that differ from the defaults, as an object of strings.
func (o Options) MarshalJSON() ([]byte, error) {
	changed := make(map[string]string)
	for _, c := range o.Changed() {
		changed[c[0]] = c[1]
	}
	return json.Marshal(changed)
}

// UnmarshalJSON reads what MarshalJSON wrote; options that are not named are the defaults.
func (o *Options) UnmarshalJSON(data []byte) error {
	var changed map[string]string
	if err := json.Unmarshal(data, &changed); err != nil {
		return fmt.Errorf("options: expected an object of names and strings: %w", err)
	}
	*o = DefaultOptions()
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if err := o.Set(name, changed[name]); err != nil {
			return err
		}
	}
	return nil
}
