package sim

import (
	"fmt"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
)

// Backend is a kind of server with the locks on it, as a simulated world takes them.
type Backend struct {
	Name string // that targets have; "" is AMQP
	New  func() Cluster
	// Links says that commands may wait inside the server, or that clients have links beside their operations:
	// [Cluster.Links] is asked only then.
	Links bool
	// Options draws options that are safe: whatever they are, the reference must hold. fix sets those that are not
	// drawn.
	Options func(d Draws, fix func(*lock.Options)) lock.Options
	// Answers are replies that locks are made to meet.
	Answers []Answer
}

// Answer is a server's reply to look for in what was visited: an exchange of that method (0 is any), result and, unless it
// is 0, answer.
type Answer struct {
	Name           string
	Method, Answer uint8
	Result         backend.Result
	// If says with which options it can be expected; nil is all.
	If func(*lock.Options) bool
}

// Fits reports whether an exchange is what the answer says.
func (a *Answer) Fits(method, answer uint8, r backend.Result) bool {
	return (a.Method == 0 || a.Method == method) && (a.Answer == 0 || a.Answer == answer) && a.Result == r
}

// backends are those registered. It is not changed once a program has begun.
var backends = make(map[string]*Backend)

// Register makes a backend known. It is called while a program begins; a name that is taken panics.
func Register(b *Backend) {
	if backends[b.Name] != nil {
		panic(fmt.Sprintf("sim: backend %q is registered twice", b.Name))
	}
	backends[b.Name] = b
}

// BackendOf is the backend that a target stands on. It must have been registered.
func BackendOf(t *lock.Target) *Backend {
	b := backends[t.Backend]
	if b == nil {
		panic(fmt.Sprintf("sim: target %s: no backend %q is registered: import the package that has it", t.Name, t.Backend))
	}
	return b
}
