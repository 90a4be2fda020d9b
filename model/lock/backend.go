package lock

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Backend is a kind of server, with all that concerns the locks on it.
type Backend struct {
	// Name is the backend's name in targets and files; "" is AMQP.
	Name string
	// Title is the name for readers, such as "RabbitMQ".
	Title string
	// Defaults are the default options of the locks, safe and cheap.
	Defaults Options
	// References are locks that should violate no property. Mutants are variants of them with one bug each, which
	// prove that the properties can be violated.
	References, Mutants []*Target
	// Words are the words for its servers in texts.
	Words Words
	// Skips says which properties do not apply to the backend's locks, with the reasons, by the properties' names.
	// [Target.Skips] adds to it.
	Skips map[string]string
}

// Words are the words in which texts speak of a backend's servers. The zero value speaks of a server without details.
type Words struct {
	// Server is the word for one server, such as "broker"; "" is "server".
	Server string
	// Restarted is the effect of a restart on locks, such as "exclusive queues are gone"; "" is none.
	Restarted string
	// Hold is the thing whose possession makes a client a holder, such as "a token"; "" is an exclusive queue.
	Hold string
}

// Called is the word for a server.
func (w Words) Called() string { return cmp.Or(w.Server, "server") }

// The is the word for a server, with its article.
func (w Words) The() string { return "the " + w.Called() }

// OffBroker reports whether the server is known not to be a broker. With zero Words the kind of server is unknown.
func (w Words) OffBroker() bool { return w != (Words{}) && w.Server != "broker" }

// Simulated is the name of the simulated server.
func (b *Backend) Simulated() string { return "the simulated " + cmp.Or(b.Words.Server, b.Title) }

// WordsOf returns the words of a target's backend, by the target's name. An unknown name is an external lock on the
// kind of server named server; "" is a broker.
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

// Reference is the backend's first reference of a lock type, or nil.
func (b *Backend) Reference(k Kind) *Target {
	i := slices.IndexFunc(b.References, func(t *Target) bool { return t.Kind == k })
	if i < 0 {
		return nil
	}
	return b.References[i]
}

// backends are the registered backends. The list does not change after initialisation.
var backends []*Backend

// ErrUnknownBackend is wrapped by the error for an unknown backend's name.
var ErrUnknownBackend = errors.New("not known")

// Register makes a backend known. It is called during initialisation. It panics if the name is taken, or if a target
// belongs to another backend.
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

// Backends are the registered backends with simulated locks, sorted by name; AMQP comes first. Other registered
// backends serve external locks only.
func Backends() []*Backend {
	return slices.DeleteFunc(slices.Clone(backends), func(b *Backend) bool { return len(b.References) == 0 })
}

// unset are the options of a backend without simulated locks.
type unset struct{}

// Check returns nil.
func (unset) Check() error { return nil }

// Facts are empty.
func (unset) Facts() Facts { return Facts{} }

// RegisterServer makes a backend without simulated locks known, with the words for it.
func RegisterServer(name, title string, w Words) {
	Register(&Backend{Name: name, Title: title, Words: w, Defaults: NewTable(name, unset{}).Defaults()})
}

// BackendNamed is the backend with that name. AMQP's name may be "" or written out.
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

// BackendOf is the backend of a target. It must be registered.
func BackendOf(t *Target) *Backend {
	b, err := BackendNamed(t.Backend)
	if err != nil {
		panic(fmt.Sprintf("lock: target %s: %v: import the package that has it", t.Name, err))
	}
	return b
}

// DefaultsOf are the default options of the backend with that name, which must be registered.
func DefaultsOf(name string) Options {
	b, err := BackendNamed(name)
	if err != nil {
		panic("lock: " + err.Error() + ": import the package that has it")
	}
	return b.Defaults
}

// TargetNamed is the target with that name, from any backend, or nil.
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
