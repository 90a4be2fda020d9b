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

// Set has the open questions about the locks on one kind of server.
type Set struct {
	// Title is a name for all the questions, such as "the guidelines' open questions".
	Title string
	// Options are the lock's options in each row of Questions that does not set them itself.
	Options [][2]string
	// Questions are numbered from 1, in this order.
	Questions []Question
	// Measured is the number of executions of each row that the atlas runs on a real server, if one is available. If it
	// is not 0, the costs of rows matter as much as their verdicts, and the atlas shows the server's answers as well.
	Measured int
	// Combined, if not nil, has options of which all combinations are tried, too.
	Combined *Combinations
}

// Question is an open question.
type Question struct {
	Ask  string
	Rows []Row
	// Answer is the conclusion that the rows lead to, in plain words.
	Answer string
}

// Row is one configuration, of which every execution is visited.
type Row struct {
	Setting string // how the row differs from the question's other rows
	Configuration
	// Judge lists the properties that the question is about. If it is empty, all properties that apply are judged.
	Judge []property.Property
	// First ends the search at the first violation. It is set if a complete search would take long and show nothing
	// more.
	First bool
	// Figure, if not nil, replaces the row's configuration.
	Figure *Figure
}

// Figure is a number that no search can find. It is computed, and measured on the simulated server and on a real one.
type Figure struct {
	Name   string // identifies the figure to the code that measures it on a real server
	Bounds string // describes the configuration that the number is for
	// Said returns the computed result, and the result on the simulated server, each as a short text.
	Said func() []string
}

// Configuration is a workload and its faults.
type Configuration struct {
	// Target is the lock's name; "" means the backend's first reference.
	Target string
	// Options are the lock's options that differ from the defaults, as pairs of name and value.
	Options [][2]string
	// Clients is the number of clients, each of which calls the operations of Calls in each of Rounds rounds (0 means
	// one). Admins is the number of administrators, each of which calls AdminCalls; if InTurn is set, administrator i
	// calls InTurn[i]. Either number may be [sim.AnyNumber]. Slots is the number of slots at the beginning.
	Clients, Rounds, Admins, Slots int
	Calls, AdminCalls              []scenario.Operation
	InTurn                         [][]scenario.Operation
	// Names has the names of the locks. If it is empty, there is one lock with the name jobs.
	Names  []string
	Faults sim.FaultBounds
}

// Combinations has values of some options. All combinations of them are tried, to find the values that every correct
// lock needs.
type Combinations struct {
	// Options are the same in all combinations.
	Options    [][2]string
	Dimensions []Dimension
	// Stood has the configurations in which a combination must violate nothing to count as correct.
	Stood []Configuration
	// Any, if not nil, is a configuration with any number of clients, in which correct combinations are proved.
	Any *Configuration
}

// Dimension is an option that the combinations vary. Its more expensive value comes first, which a design avoids if it
// can.
type Dimension struct {
	Option string
	Values []string
}

// sets has the registered sets, by the name of the backend. It does not change once the program is initialized.
var sets = make(map[string]*Set)

// Register registers the open questions of a backend while the program is initialized. The targets that the questions
// name need not be registered yet. Register panics if the backend has questions already.
func Register(backend string, s *Set) {
	if sets[backend] != nil {
		panic(fmt.Sprintf("question: backend %q has questions already", backend))
	}
	sets[backend] = s
}

// Of returns the backend with the given name and its open questions. It returns an error if the name is unknown or the
// backend has no questions.
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

// Servers returns the names of the backends that have open questions, in alphabetical order.
func Servers() (names []string) {
	for name := range sets {
		names = append(names, cmp.Or(name, "amqp"))
	}
	slices.Sort(names)
	return names
}
