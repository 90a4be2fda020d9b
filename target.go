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
	own     *lock.Target // of this module; nil is an external one
	kind    Kind         // that it is taken for; "" is to be found out
	exec    string
	connect func(ctx context.Context, url string) (Lock, error)
	machine func(lock.Kind) (*lock.Target, *protocol.Guard) // makes own, and what watches it during a run, for each run
	guard   *protocol.Guard
	client  client
	options [][2]string
	err     error // why there is no such target
}

// client is how an external lock is used, and what it promises.
type client struct {
	server, contract, holding string
	servers                   int
	patience, limit           time.Duration
}

// Reference is the reference lock of a type, which has every property.
func Reference(k Kind) Target {
	kind, err := lock.KindNamed(string(k))
	if err != nil {
		return Target{name: string(k), err: invalid("lock type %q is not known", k)}
	}
	return ours(engine.Reference(kind))
}

// Mutant is the reference with one bug, by its name.
func Mutant(name string) Target {
	t, err := engine.TargetNamed(name)
	if err != nil || t.Breaks == "" {
		return Target{name: name, err: invalid("mutant %q is not known", name)}
	}
	return ours(t)
}

// Mutants are the names of all, each with the property that it breaks.
func Mutants() map[string]Property {
	all := make(map[string]Property)
	for _, t := range engine.Mutants() {
		all[t.Name] = Property(t.Breaks)
	}
	return all
}

// Exec is a lock in any language: a shell's command, run once for each client and called by JSON-RPC over its standard
// input and output.
func Exec(command string) Target { return Target{name: command, exec: command, kind: Semaphore} }

// Go is a lock written in Go: connect makes a client, connected to the server at a URL, whose end ends the context.
func Go(name string, connect func(ctx context.Context, url string) (Lock, error)) Target {
	return Target{name: name, connect: connect}
}

// shown is the target's name; of a command, without its secrets.
func (t Target) shown() string {
	if t.exec != "" {
		return secret.Command(t.exec)
	}
	return t.name
}

func ours(t *lock.Target) Target { return Target{name: t.Name, own: t, kind: Kind(t.Kind.String())} }

// As has an external target judged as of that type; a [Lock] that is no [Administrator] is a mutex.
func (t Target) As(k Kind) Target {
	if (t.own != nil || t.machine != nil) && k != t.kind {
		t.err = invalid("%s taken for a %s: it is a %s", t.name, k, t.kind)
	}
	t.kind = k
	return t
}

// With sets an option of the target's. Prove draws the others.
func (t Target) With(option, value string) Target {
	t.options = append(slices.Clip(t.options), [2]string{option, value})
	return t
}

// On has an external lock stand on so many servers of a kind, such as "redis", which are started for the run; "amqp" is
// Options.Server.
func (t Target) On(server string, servers int) Target {
	t.client.server, t.client.servers = server, servers
	return t
}

// Promising names what an external lock promises: guidelines, mutex, semaphore, lease, or properties.
func (t Target) Promising(contract string) Target {
	t.client.contract = contract
	return t
}

// HeldBy says what holds an external lock at the broker, such as "queue jobs-{slot}", so that errors are found earlier.
func (t Target) HeldBy(what string) Target {
	t.client.holding = what
	return t
}

// Patience is for how long others wait for an external client that sends nothing; 0 is 2 s.
func (t Target) Patience(d time.Duration) Target {
	t.client.patience = d
	return t
}

// Limit is how long a call may take, of a Protocol or in Stress; 0 is 10 s.
func (t Target) Limit(d time.Duration) Target {
	t.client.limit = d
	return t
}

// lock is an external target as the gate has it.
func (t Target) lock(kind lock.Kind, on gated.Server, log io.Writer) (l gated.Lock, err error) {
	l = gated.Lock{Starter: t.starter(log), Exec: t.exec, Name: t.label(), Kind: kind, Options: t.told(), On: on, Patience: t.client.patience}
	if l.Demands, err = property.ParseContract(t.client.contract); err != nil {
		return l, asInvalid(err)
	}
	l.Holding, err = holding.Parse(t.client.holding)
	return l, asInvalid(err)
}

// label is what the result calls an external target: a program says its own name.
func (t Target) label() string {
	if t.exec != "" {
		return ""
	}
	return t.name
}

func (t Target) zero() bool {
	return t.own == nil && t.machine == nil && t.exec == "" && t.connect == nil && t.err == nil
}

// settled is the target, checked, and the type that it is taken for first.
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

// applicable are the properties that mean something for the target, taken for a lock of that type.
func (t Target) applicable(k lock.Kind) property.Set {
	if t.own == nil {
		return property.ApplicableExternal(k)
	}
	return property.Of(t.own)
}

// starter makes clients of an external target.
func (t Target) starter(log io.Writer) foreign.Starter {
	if t.exec != "" {
		return &subprocess.Starter{Command: t.exec, Stderr: log}
	}
	return inprocess.Starter{Name: t.name, New: func(ctx context.Context, url string) (inprocess.Lock, error) { return t.connect(ctx, url) }}
}

// told is the options as they are handed to external clients.
func (t Target) told() map[string]string {
	out := make(map[string]string)
	for _, o := range t.options {
		out[o[0]] = o[1]
	}
	return out
}

// Lock is one client of locks. Calls come one at a time. An error other than [ErrNoEffect] leaves open whether the call had
// an effect. Optional methods: Several() bool, whether it may hold several locks; AcquireWithin(ctx, name, time.Duration)
// waits; AcquireFor(ctx, name, time.Duration) takes a lease; AcquireLimited(ctx, name, limit int); Token(name string, slot
// int) int64.
type Lock interface {
	Acquire(ctx context.Context, name string) (slot int, err error)           // from 1, or 0 if all are taken
	Verify(ctx context.Context, name string, slot int) (held bool, err error) // false, and no error, if the connection is gone
	Release(ctx context.Context, name string, slot int) error
	Close() error // its connection
}

// Administrator is a Lock that makes locks with so many slots. Add and Remove, with Create's parameters, and Wait, with
// Release's, are optional.
type Administrator interface {
	Lock
	Create(ctx context.Context, name string, slots int) error
	Destroy(ctx context.Context, name string) error
	Count(ctx context.Context, name string) (slots int, err error)
}
