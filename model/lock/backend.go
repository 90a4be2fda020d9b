package lock

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Backend is a kind of server, as far as the locks that stand on it are concerned.
type Backend struct {
	// Name is what targets and files call it; "" is AMQP.
	Name string
	// Title is its name among people, such as "RabbitMQ".
	Title string
	// Defaults are the options of its locks, safe and cheap.
	Defaults Options
	// References are locks that should break no property; Mutants are variants of them with one bug each, which prove that
	// the properties can be broken.
	References, Mutants []*Target
	// Words are how texts speak of its servers.
	Words Words
	// Skips says which properties mean nothing for its locks, by their names, and why. [Target.Skips] adds to it.
	Skips map[string]string
}

// Words are how texts speak of a backend's servers. The zero value says no more than that there is one.
type Words struct {
	// Server is the word for one server, such as "broker"; "" is "server".
	Server string
	// Restarted is the effect of a restart on locks, such as "exclusive queues are gone"; "" is none.
	Restarted string
	// Hold is the thing that makes a client a holder, such as "a token"; "" is an exclusive queue.
	Hold string
}

// Called is what a server is called.
func (w Words) Called() string { return cmp.Or(w.Server, "server") }

// The is a server, with its article.
func (w Words) The() string { return "the " + w.Called() }

// OffBroker reports whether the server is known to be another than a broker. Without words nothing is known of it.
func (w Words) OffBroker() bool { return w != (Words{}) && w.Server != "broker" }

// Simulated is what its simulated server is called.
func (b *Backend) Simulated() string { return "the simulated " + cmp.Or(b.Words.Server, b.Title) }

// WordsOf returns the words of a target's backend, by the target's name. An unknown name is an external lock on a kind of server;
// "" is a broker.
func WordsOf(target, server string) Words {
	if t := TargetNamed(target); t != nil {
		return BackendOf(t).Words
	} else if b, err := BackendNamed(server); err == nil {
		return b.Words
	}
	return Words{}
}

// Targets are the references, then the mutants.
func (b *Backend) Targets() []*Target { return slices.Concat(b.References, b.Mutants) }

// Reference is the first of the references that is of a type, or nil.
func (b *Backend) Reference(k Kind) *Target {
	i := slices.IndexFunc(b.References, func(t *Target) bool { return t.Kind == k })
	if i < 0 {
		return nil
	}
	return b.References[i]
}

// backends are those registered. It is not changed once a program has begun.
var backends []*Backend

// ErrUnknownBackend is, somewhere in it, the error of a backend's name that none has.
var ErrUnknownBackend = errors.New("not known")

// Register makes a backend known. It is called while a program begins. A name that is taken panics, and so does a target
// of another backend's name.
func Register(b *Backend) {
	if _, err := BackendNamed(b.Name); err == nil {
		panic(fmt.Sprintf("lock: backend %q is registered twice", b.Name))
	}
	for _, t := range b.Targets() {
		if t.Backend != b.Name {
			panic(fmt.Sprintf("lock: target %s of backend %q says that it is one of %q", t.Name, b.Name, t.Backend))
		}
		if TargetNamed(t.Name) != nil {
			panic(fmt.Sprintf("lock: two targets are called %s", t.Name))
		}
	}
	backends = append(backends, b)
	slices.SortFunc(backends, func(a, b *Backend) int { return strings.Compare(a.Name, b.Name) })
}

// Backends are all that are registered and have locks of ours, by their names: AMQP is the first. The others are there for locks of
// somebody else's alone.
func Backends() []*Backend {
	return slices.DeleteFunc(slices.Clone(backends), func(b *Backend) bool { return len(b.References) == 0 })
}

// unset are the options of a backend that has no locks of ours.
type unset struct{}

// Check is nil.
func (unset) Check() error { return nil }

// Facts are none.
func (unset) Facts() Facts { return Facts{} }

// RegisterServer makes a backend known that has no locks of ours, by the words for it.
func RegisterServer(name, title string, w Words) {
	Register(&Backend{Name: name, Title: title, Words: w, Defaults: NewTable(name, unset{}).Defaults()})
}

// BackendNamed is the backend of that name. AMQP's may be written out.
func BackendNamed(name string) (*Backend, error) {
	for _, b := range backends {
		if b.Name == name || name == "amqp" && b.Name == "" {
			return b, nil
		}
	}
	var names []string
	for _, b := range backends {
		names = append(names, cmp.Or(b.Name, "amqp"))
	}
	return nil, fmt.Errorf("server %q is %w: expected one of %s", name, ErrUnknownBackend, strings.Join(names, ", "))
}

// BackendOf is the backend that a target stands on, which must have been registered.
func BackendOf(t *Target) *Backend {
	b, err := BackendNamed(t.Backend)
	if err != nil {
		panic(fmt.Sprintf("lock: target %s: %v: import the package that has it", t.Name, err))
	}
	return b
}

// DefaultsOf are the default options of the backend of that name, which must have been registered.
func DefaultsOf(name string) Options {
	b, err := BackendNamed(name)
	if err != nil {
		panic("lock: " + err.Error() + ": import the package that has it")
	}
	return b.Defaults
}

// TargetNamed is the target of that name, of whatever backend, or nil.
func TargetNamed(name string) *Target {
	for _, b := range backends {
		for _, t := range b.Targets() {
			if t.Name == name {
				return t
			}
		}
	}
	return nil
}
