package lockproof

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/protocol"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Kind is a lock type. A mutex has no administration.
type Kind string

const Semaphore, Mutex, PersistentMutex Kind = "semaphore", "mutex", "persistent-mutex"

// Target is the lock to judge. The zero value is Reference(Semaphore).
type Target struct {
	name    string
	own     *lock.Target // a lock of this module; nil is an external lock
	kind    Kind         // lock type as which the target is judged; "" until it is known
	exec    string
	connect func(ctx context.Context, url string) (Lock, error)
	machine func(lock.Kind) (*lock.Target, *protocol.Guard) // makes own and guard, at the start of each run
	guard   *protocol.Guard
	client  client
	options [][2]string
	err     error // the reason why the target is invalid
}

// client says how an external lock is used, and what it promises. Zero values mean the defaults.
type client struct {
	server, contract, holding string
	servers                   int
	patience, limit           time.Duration
}

// Reference returns the reference lock of a type, which has every property.
func Reference(k Kind) Target {
	kind, err := lock.KindNamed(string(k))
	if err != nil {
		return Target{name: string(k), err: invalid("lock type %q is not known", k)}
	}
	return ours(engine.Reference(kind))
}

// Mutant returns the mutant of that name: a reference lock with one bug.
func Mutant(name string) Target {
	t, err := engine.TargetNamed(name)
	if err != nil || t.Breaks == "" {
		return Target{name: name, err: invalid("mutant %q is not known", name)}
	}
	return ours(t)
}

// Mutants maps the name of each mutant to the property that it violates.
func Mutants() map[string]Property {
	all := make(map[string]Property)
	for _, t := range engine.Mutants() {
		all[t.Name] = Property(t.Breaks)
	}
	return all
}

// Exec returns a lock in any language: a shell command that is run once for each client, and called by JSON-RPC over its
// standard input and output.
func Exec(command string) Target { return Target{name: command, exec: command, kind: Semaphore} }

// Go returns a lock written in Go. connect makes a client that is connected to the server at url. ctx is cancelled when
// the client ends.
func Go(name string, connect func(ctx context.Context, url string) (Lock, error)) Target {
	return Target{name: name, connect: connect}
}

// shown returns the target's name. If the target is a command, its secrets are left out.
func (t Target) shown() string {
	if t.exec != "" {
		return secret.Command(t.exec)
	}
	return t.name
}

func ours(t *lock.Target) Target { return Target{name: t.Name, own: t, kind: Kind(t.Kind.String())} }

// As sets the lock type as which an external target is judged. A [Lock] that is no [Administrator] is a mutex.
func (t Target) As(k Kind) Target {
	if (t.own != nil || t.machine != nil) && k != t.kind {
		t.err = invalid("%s taken for a %s: it is a %s", t.name, k, t.kind)
	}
	t.kind = k
	return t
}

// With sets an option of the target. Prove draws values for options that are not set.
func (t Target) With(option, value string) Target {
	t.options = append(slices.Clip(t.options), [2]string{option, value})
	return t
}

// On runs an external lock on a number of new servers of a kind, such as "redis". For "amqp", Options.Server names the
// server.
func (t Target) On(server string, servers int) Target {
	t.client.server, t.client.servers = server, servers
	return t
}

// Promising sets the contract of an external lock: "guidelines", "mutex", "semaphore", "lease", or names of properties.
func (t Target) Promising(contract string) Target {
	t.client.contract = contract
	return t
}

// HeldBy names the thing on the broker whose owner holds an external lock, such as "queue jobs-{slot}". Then a client's
// wrong belief that it holds the lock is found as soon as it begins.
func (t Target) HeldBy(what string) Target {
	t.client.holding = what
	return t
}

// Patience sets the time to wait for a client that sends nothing; 0 means 2 s.
func (t Target) Patience(d time.Duration) Target {
	t.client.patience = d
	return t
}

// Limit sets the maximum duration of a Protocol's method, or of an external client's call in Stress; 0 means 10 s.
func (t Target) Limit(d time.Duration) Target {
	t.client.limit = d
	return t
}

// lock converts an external target to the form that package gated uses.
func (t Target) lock(kind lock.Kind, on gated.Server, log io.Writer) (l gated.Lock, err error) {
	l = gated.Lock{Starter: t.starter(log), Exec: t.exec, Name: t.label(), Kind: kind, Options: t.told(), On: on, Patience: t.client.patience}
	if l.Demands, err = property.ParseContract(t.client.contract); err != nil {
		return l, asInvalid(err)
	}
	l.Holding, err = holding.Parse(t.client.holding)
	return l, asInvalid(err)
}

// label returns an external target's name for results: "" for an Exec, whose program reports its own name.
func (t Target) label() string {
	if t.exec != "" {
		return ""
	}
	return t.name
}

func (t Target) zero() bool {
	return t.own == nil && t.machine == nil && t.exec == "" && t.connect == nil && t.err == nil
}

// settled checks the target. It returns the target, ready to run, and the type of lock as which it is judged first.
func (t Target) settled() (Target, lock.Kind, error) {
	if t.zero() {
		options, client := t.options, t.client
		t = Reference(Semaphore)
		t.options, t.client = options, client
	}
	if t.err != nil {
		return t, 0, t.err
	}
	if t.client.patience < 0 || t.client.limit < 0 {
		return t, 0, invalid("a time below 0: expected more than nothing")
	}
	kind, err := lock.KindNamed(string(cmp.Or(t.kind, Semaphore)))
	if err != nil {
		return t, 0, invalid("lock type %q is not known", t.kind)
	}
	if t.machine != nil {
		t.own, t.guard = t.machine(kind)
	}
	if t.own == nil {
		return t, kind, nil
	}
	if _, err := t.own.Set(lock.BackendOf(t.own).Defaults, t.options); err != nil {
		return t, 0, asInvalid(err)
	}
	return t, kind, nil
}

// applicable returns the properties that apply to the target, judged as a lock of type k.
func (t Target) applicable(k lock.Kind) property.Set {
	if t.own == nil {
		return property.ApplicableExternal(k)
	}
	return property.Of(t.own)
}

// starter returns the object that starts clients of an external target.
func (t Target) starter(log io.Writer) foreign.Starter {
	if t.exec != "" {
		return &subprocess.Starter{Command: t.exec, Stderr: log}
	}
	return inprocess.Starter{Name: t.name, New: func(ctx context.Context, url string) (inprocess.Lock, error) { return t.connect(ctx, url) }}
}

// told returns the target's options, by name, as external clients receive them.
func (t Target) told() map[string]string {
	out := make(map[string]string)
	for _, o := range t.options {
		out[o[0]] = o[1]
	}
	return out
}

// Lock is one client of locks. Its methods are called one at a time. After an error other than [ErrNoEffect], the call
// may or may not have had an effect. Optional methods: Several() bool reports whether the client may hold several
// locks; AcquireWithin(ctx, name, time.Duration) waits; AcquireFor(ctx, name, time.Duration) takes a lease;
// AcquireLimited(ctx, name, limit int) states how many clients may hold the lock; Token(name string, slot int) int64
// returns the fencing token.
type Lock interface {
	Acquire(ctx context.Context, name string) (slot int, err error)           // slots count from 1; 0 if all are taken
	Verify(ctx context.Context, name string, slot int) (held bool, err error) // false, and no error, if the connection is gone
	Release(ctx context.Context, name string, slot int) error
	Close() error // closes the connection
}

// Administrator is a Lock that can also create locks with a given number of slots, destroy them, and count their slots.
// Optional methods: Add and Remove, with Create's parameters, and Wait, with Release's.
type Administrator interface {
	Lock
	Create(ctx context.Context, name string, slots int) error
	Destroy(ctx context.Context, name string) error
	Count(ctx context.Context, name string) (slots int, err error)
}
