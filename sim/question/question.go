package question

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Set is the open questions of the locks on one kind of server.
type Set struct {
	// Title names the questions together, such as "the guidelines' open questions".
	Title string
	// Options hold in all rows of Questions that do not set them.
	Options [][2]string
	// Questions are numbered from 1, in this order.
	Questions []Question
	// Measured says that the costs of rows matter as much as their verdicts: the atlas also shows the server's
	// answers. If a real server is available, it runs that many executions of each row.
	Measured int
	// Combined, where it is not nil, is of which options all combinations are tried as well.
	Combined *Combinations
}

// Question is an open question.
type Question struct {
	Ask  string
	Rows []Row
	// Answer is the conclusion from all rows, in plain words.
	Answer string
}

// Row is one configuration of which every execution is visited.
type Row struct {
	Setting string // what distinguishes it from its neighbours
	Configuration
	// Judge are the properties that the question is about; none is all that apply.
	Judge []property.Property
	// First ends the search at the first violation, where the rest would take long and show nothing more.
	First bool
	// Figure, where it is not nil, is what the row has instead of a configuration.
	Figure *Figure
}

// Figure is a number that no search finds: it is computed, and measured on the simulated server and on a real one.
type Figure struct {
	Name   string // by which a real server is asked for it
	Bounds string // of what it is the number
	// Said are the results by arithmetic and on the simulated server, each in a few words.
	Said func() []string
}

// Configuration is a workload and its faults.
type Configuration struct {
	// Target is the lock's name; "" is the backend's first reference.
	Target string
	// Options are those that differ from the defaults, by name and value.
	Options [][2]string
	// Clients call the operations of Calls in Rounds rounds (0 is one). Administrators call AdminCalls; with InTurn,
	// the first administrator calls its first list, and so on. Clients and Admins may be [sim.AnyNumber].
	Clients, Rounds, Admins, Slots int
	Calls, AdminCalls              []scenario.Operation
	InTurn                         [][]scenario.Operation
	// Names are the locks'; none is one lock called jobs.
	Names  []string
	Faults sim.FaultBounds
}

// Combinations are the values of some options, all combinations of which are tried, to find those that no lock can do
// without.
type Combinations struct {
	// Options are the same in all.
	Options    [][2]string
	Dimensions []Dimension
	// Stood is what a combination has to stand.
	Stood []Configuration
	// Any is the configuration for which right combinations are proved for any number of clients; nil is none.
	Any *Configuration
}

// Dimension is an option of the combinations. The more expensive value comes first: a design prefers to do without
// it.
type Dimension struct {
	Option string
	Values []string
}

// sets are those registered, by backend. It is not changed once a program has begun.
var sets = make(map[string]*Set)

// Register makes a backend's open questions known, while a program begins. Targets that they name need not be registered
// yet. A second set for the same backend panics.
func Register(backend string, s *Set) {
	if sets[backend] != nil {
		panic(fmt.Sprintf("question: backend %q has questions already", backend))
	}
	sets[backend] = s
}

// Of returns the open questions of the backend of that name. The error is an unknown name, or a backend without
// questions.
func Of(name string) (*lock.Backend, *Set, error) {
	b, err := lock.BackendNamed(name)
	if err != nil {
		return nil, nil, err
	}
	if s := sets[b.Name]; s != nil {
		return b, s, nil
	}
	return nil, nil, fmt.Errorf("server %q has no open questions: expected one of %s", name, strings.Join(Servers(), ", "))
}

// Servers are the backends that have questions, by name.
func Servers() (names []string) {
	for name := range sets {
		names = append(names, cmp.Or(name, "amqp"))
	}
	slices.Sort(names)
	return names
}
