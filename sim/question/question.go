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
	// Options apply to each row of Questions that does not set them itself.
	Options [][2]string
	// Questions are numbered from 1, in this order.
	Questions []Question
	// Measured is the number of executions of each row that the atlas runs on a real server, if one is available. If it is
	// not 0, the costs of rows matter as much as their verdicts, and the atlas shows the server's answers as well.
	Measured int
	// Combined, if not nil, has options whose combinations are all tried as well.
	Combined *Combinations
}

// Question is an open question.
type Question struct {
	Ask  string
	Rows []Row
	// Answer is the conclusion from all rows, in plain words.
	Answer string
}

// Row is one configuration. Every execution of it is visited.
type Row struct {
	Setting string // what distinguishes the row from the question's other rows
	Configuration
	// Judge are the properties that the question is about; if it is empty, all that apply are judged.
	Judge []property.Property
	// First ends the search at the first violation. It is set where the rest would take long and show nothing more.
	First bool
	// Figure, if not nil, replaces the row's configuration.
	Figure *Figure
}

// Figure is a number that no search finds: it is computed, and measured on the simulated server and on a real one.
type Figure struct {
	Name   string // identifies the figure to the code that measures it on a real server
	Bounds string // the configuration that the number is for, in words
	// Said returns the results by arithmetic and on the simulated server, each in a few words.
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
	// Names are the names of the locks; if it is empty, there is one lock called jobs.
	Names  []string
	Faults sim.FaultBounds
}

// Combinations are the values of some options. All combinations of them are tried, to find the values that no correct lock
// can do without.
type Combinations struct {
	// Options are the same in all combinations.
	Options    [][2]string
	Dimensions []Dimension
	// Stood are the configurations in which a combination must violate nothing.
	Stood []Configuration
	// Any, if not nil, is the configuration in which correct combinations are proved for any number of clients.
	Any *Configuration
}

// Dimension is an option of the combinations. The more expensive value comes first; a design avoids it if it can.
type Dimension struct {
	Option string
	Values []string
}

// sets are the registered sets by backend. They do not change once the program's initialization is over.
var sets = make(map[string]*Set)

// Register registers a backend's open questions, during the program's initialization. Targets that the questions name need
// not be registered yet. A second set for the same backend panics.
func Register(backend string, s *Set) {
	if sets[backend] != nil {
		panic(fmt.Sprintf("question: backend %q has questions already", backend))
	}
	sets[backend] = s
}

// Of returns the backend of that name and its open questions. It returns an error if the name is unknown or the backend
// has no questions.
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

// Servers returns the names of the backends that have questions, in order.
func Servers() (names []string) {
	for name := range sets {
		names = append(names, cmp.Or(name, "amqp"))
	}
	slices.Sort(names)
	return names
}
