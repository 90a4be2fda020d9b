package stress

import (
	"fmt"
	"math/rand/v2"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Load configures a stress run.
type Load struct {
	Slots   int // number of slots at first; 0 for a true mutex
	Clients int // number of clients that acquire, at least 1
	Admins  int // number of clients that administer now and then; 0 for a true mutex
	Rounds  int // number of rounds; all clients begin a round at one instant
	// Verifies is the maximum number of verifies between an acquire and the release.
	Verifies int
	// CrashShare is the probability, from 0 to 1, that a client dies in or right after an operation. It then
	// continues as a new process with a new connection.
	CrashShare float64
	// Seed determines the operations that clients choose. Their results also depend on timing.
	Seed uint64
	// Progress is called before each round with the number of finished rounds and of all rounds. It is not called
	// concurrently. It may be nil.
	Progress func(rounds, of int)
}

// Fit returns the load without what a lock type does not support. A true mutex has no slots to create and no
// administrators. Only a semaphore has more than one slot.
func (l Load) Fit(kind lock.Kind) Load {
	switch kind {
	case lock.Mutex:
		l.Slots, l.Admins = 0, 0
	case lock.PersistentMutex:
		l.Slots = min(l.Slots, 1)
	}
	return l
}

// Words returns a description of the load for a lock of the given type, such as "3 clients that acquire, 2 slots at
// first, 100 rounds, ...".
func (l Load) Words(kind lock.Kind) string {
	out := fmt.Sprintf("%d clients that acquire", l.Clients)
	if l.Admins > 0 {
		out += fmt.Sprintf(", %d that administer", l.Admins)
	}
	if kind == lock.Semaphore {
		out += fmt.Sprintf(", %d slots at first", l.Slots)
	}
	return out + fmt.Sprintf(", %d rounds, crashes in %g of operations, choices from seed %d", l.Rounds, l.CrashShare, l.Seed)
}

// Upper bounds of a load. A broker has connections for only so many clients, and histories have only so many process
// numbers.
const (
	maxMembers      = 1000
	maxStressRounds = 1_000_000
)

// Check returns an error if the load is not valid for the lock type. The error begins with the name of the invalid
// field.
func (l *Load) Check(kind lock.Kind) error {
	switch {
	case l.Clients < 1 || l.Clients > maxMembers:
		return fmt.Errorf("clients %d: expected 1 to %d", l.Clients, maxMembers)
	case l.Admins < 0 || l.Admins > maxMembers:
		return fmt.Errorf("admins %d: expected 0 to %d", l.Admins, maxMembers)
	case l.Rounds < 1 || l.Rounds > maxStressRounds:
		return fmt.Errorf("rounds %d: expected 1 to %d", l.Rounds, maxStressRounds)
	case kind != lock.Semaphore && l.Slots > 1:
		return fmt.Errorf("slots %d: expected at most 1 of a %s", l.Slots, kind)
	case kind == lock.Mutex && l.Admins > 0:
		return fmt.Errorf("admins %d: a mutex has no administration; leave it out", l.Admins)
	case l.Slots < 0 || l.Slots+l.Admins >= lock.MaxSlots:
		return fmt.Errorf("slots %d: expected 0 to %d beside %d administrators, who add one each", l.Slots, lock.MaxSlots-1-l.Admins, l.Admins)
	case l.Verifies < 0:
		return fmt.Errorf("verifies %d: expected at least 0", l.Verifies)
	case !(l.CrashShare >= 0 && l.CrashShare <= 1):
		return fmt.Errorf("crash-share %v: expected a share of operations, 0 to 1", l.CrashShare)
	}
	return nil
}

// Members returns the number of all clients. Administrators have the last client numbers.
func (l *Load) Members() int { return l.Clients + l.Admins }

// MaxSlots returns the highest slot number that can occur: each administrator adds at most one slot before it removes
// one.
func (l *Load) MaxSlots() int { return max(1, l.Slots) + l.Admins }

// Process returns the process number in histories of a client's n-th life, where n is life; client and life count
// from 1. See [history.Event].
func (l *Load) Process(client, life int32) int32 { return history.Process(client, life, l.Members()) }

// Choices returns the random source for the choices of a client.
func (l *Load) Choices(client int32) *rand.Rand {
	return rand.New(rand.NewPCG(l.Seed, uint64(client-1)))
}

// progress calls Progress, if it is not nil.
func (l *Load) progress(round int) {
	if l.Progress != nil {
		l.Progress(round, l.Rounds)
	}
}
