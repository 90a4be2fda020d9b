package lock

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Backend is a kind of server, such as AMQP or Redis, with the locks on it.
type Backend struct {
	// Name is the backend's name in targets and files; "" is AMQP.
	Name string
	// Title is the name for readers, such as "RabbitMQ".
	Title string
	// Defaults are the default options of the locks, which are safe and cheap.
	Defaults Options
	// References are locks that should violate no property. Mutants are variants of them with one bug each, which
	// prove that the properties can be violated.
	References, Mutants []*Target
	// Words are the words that texts use for its servers.
	Words Words
	// Skips are the properties, by name, that do not apply to the backend's locks, each with the reason. [Target.Skips]
	// has further ones.
	Skips map[string]string
}

// Words are the words that texts use for a kind of server. With the zero value, texts say "server", without details.
type Words struct {
	// Server is the word for one server, such as "broker"; "" is "server".
	Server string
	// Restarted says what a restart does to locks, such as "exclusive queues are gone"; "" says nothing.
	Restarted string
	// Hold is the thing whose owner holds a slot, such as "a token"; "" means an exclusive queue.
	Hold string
}

// Called is the word for one server, such as "broker".
func (w Words) Called() string { return cmp.Or(w.Server, "server") }

// The is the word for one server with its article, such as "the broker".
func (w Words) The() string { return "the " + w.Called() }

// OffBroker reports whether the server is certainly no broker. With zero Words this is unknown, and the result is
// false.
func (w Words) OffBroker() bool { return w != (Words{}) && w.Server != "broker" }

// Simulated is the name of the simulated server.
func (b *Backend) Simulated() string { return "the simulated " + cmp.Or(b.Words.Server, b.Title) }

// WordsOf returns the words of the backend of the target with that name. Without such a target, the lock is external,
// and server names its backend; "" is AMQP.
func WordsOf(target, server string) Words {
	if t := TargetNamed(target); t != nil {
		return BackendOf(t).Words
	} else if b, err := BackendNamed(server); err == nil {
		return b.Words
	}
	return Words{}
}

// Targets are all targets of the backend: the references, then the mutants.
func (b *Backend) Targets() []*Target { return slices.Concat(b.References, b.Mutants) }

// Reference is the backend's first reference of lock type k, or nil.
func (b *Backend) Reference(k Kind) *Target {
	i := slices.IndexFunc(b.References, func(t *Target) bool { return t.Kind == k })
	if i < 0 {
		return nil
	}
	return b.References[i]
}

// backends are the registered backends, sorted by name. The list does not change after initialisation.
var backends []*Backend

// ErrUnknownBackend is the error, possibly wrapped, if no backend with a given name is registered.
var ErrUnknownBackend = errors.New("not known")

// Register adds a backend to the registered ones. It is called during initialisation. It panics if the name or the name
// of a target is taken, or if a target belongs to another backend.
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

// Backends are the registered backends that have locks of this module, sorted by name; AMQP comes first. The others
// serve external locks only.
func Backends() []*Backend {
	return slices.DeleteFunc(slices.Clone(backends), func(b *Backend) bool { return len(b.References) == 0 })
}

// unset is the type of the settings of a backend that has no locks of this module: there are no options.
type unset struct{}

// Check returns nil.
func (unset) Check() error { return nil }

// Facts are empty.
func (unset) Facts() Facts { return Facts{} }

// RegisterServer registers a backend that has no locks of this module.
func RegisterServer(name, title string, w Words) {
	Register(&Backend{Name: name, Title: title, Words: w, Defaults: NewTable(name, unset{}).Defaults()})
}

// BackendNamed is the registered backend with that name. Both "" and "amqp" are AMQP.
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

// BackendOf is the backend of a target. It panics if the backend is not registered.
func BackendOf(t *Target) *Backend {
	b, err := BackendNamed(t.Backend)
	if err != nil {
		panic(fmt.Sprintf("lock: target %s: %v: import the package that has it", t.Name, err))
	}
	return b
}

// DefaultsOf are the default options of the backend with that name. It panics if the backend is not registered.
func DefaultsOf(name string) Options {
	b, err := BackendNamed(name)
	if err != nil {
		panic("lock: " + err.Error() + ": import the package that has it")
	}
	return b.Defaults
}

// TargetNamed is the target with that name, of any registered backend; nil if there is none.
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
