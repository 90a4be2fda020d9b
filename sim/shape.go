package sim

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// Shape fixes what is otherwise drawn of a workload and of its faults. A nil field is drawn; the zero value draws
// all.
type Shape struct {
	Clients *int // that acquire
	Admins  *int // that administer
	Slots   *int // that each lock begins with
	// Start, where it is not 0, is which slots each lock begins with instead.
	Start scenario.SlotSet
	// Rounds is how often each client acquires, verifies up to twice, and releases.
	Rounds *int
	// CrashShare is the share of operations in which a client dies, from 0 to 1.
	CrashShare *float64
	// Restarts is how often the broker restarts.
	Restarts *int
}

// Bounds of a shape: so that an operation's number fits in a byte, and so that a plan can hold all faults.
const (
	maxDrawnRounds = 50
	maxRestarts    = 8
)

// addedEach is the largest number of slots that an administrator adds before any removal.
const addedEach = 2

// Check says what is wrong with the shape for a lock type. The error begins with the name of what is.
func (h *Shape) Check(kind lock.Kind) error {
	clients, admins := fixed(h.Clients, 1), fixed(h.Admins, 0)
	switch {
	case clients < 1 || clients > lock.MaxClients:
		return fmt.Errorf("clients %d: expected 1 to %d, administrators included", clients, lock.MaxClients)
	case admins != 0 && kind == lock.Mutex:
		return fmt.Errorf("admins %d: a mutex has no administration; leave it out", admins)
	case admins < 0 || admins > lock.MaxClients-clients:
		return fmt.Errorf("admins %d: expected 0 to %d, of at most %d clients altogether", admins, lock.MaxClients-clients, lock.MaxClients)
	}
	switch slots, most := fixed(h.Slots, 0), mostSlots(kind, admins); {
	case slots < 0 || slots > most:
		return fmt.Errorf("slots %d: expected 0 to %d of a %s with administrators: %d", slots, most, kind, admins)
	}
	if err := h.checkStart(kind); err != nil {
		return err
	}
	return h.checkFaults()
}

// free reports whether all is drawn.
func (h *Shape) free() bool { return *h == Shape{} }

// top is the last slot that locks begin with, as far as that is fixed.
func (h *Shape) top() int {
	if h.Start != 0 {
		return int(scenario.Begin("", h.Start).Slots)
	}
	return fixed(h.Slots, 0)
}

// checkStart says what is wrong with the slots that locks begin with.
func (h *Shape) checkStart(kind lock.Kind) error {
	switch most := mostSlots(kind, fixed(h.Admins, 0)); {
	case h.Start == 0:
	case kind != lock.Semaphore:
		return fmt.Errorf("start slots %s: a %s has no slots to choose from", h.Start, kind)
	case h.Slots != nil:
		return fmt.Errorf("start slots %s: and %d slots; expected one of the two", h.Start, *h.Slots)
	case h.top() > most:
		return fmt.Errorf("start slots %s: expected slots up to %d", h.Start, most)
	}
	return nil
}

func (h *Shape) checkFaults() error {
	rounds, share, restarts := fixed(h.Rounds, 1), fixed(h.CrashShare, 0), fixed(h.Restarts, 0)
	switch {
	case rounds < 1 || rounds > maxDrawnRounds:
		return fmt.Errorf("rounds %d: expected 1 to %d", rounds, maxDrawnRounds)
	case !(share >= 0 && share <= 1):
		return fmt.Errorf("crash-share %v: expected a share of operations, 0 to 1", share)
	case restarts < 0 || restarts > maxRestarts:
		return fmt.Errorf("restarts %d: expected 0 to %d", restarts, maxRestarts)
	}
	return nil
}

// String is what is fixed, in words; "" is nothing.
func (h *Shape) String() string {
	var out []string
	for _, k := range []struct {
		n    *int
		noun string
	}{{h.Clients, "client"}, {h.Admins, "administrator"}, {h.Slots, "slot"}, {h.Rounds, "round"}, {h.Restarts, "broker restart"}} {
		switch {
		case k.n == nil:
		case *k.n == 1:
			out = append(out, "1 "+k.noun)
		default:
			out = append(out, fmt.Sprintf("%d %ss", *k.n, k.noun))
		}
	}
	if h.Start != 0 {
		out = append(out, fmt.Sprintf("slots %s at first", h.Start))
	}
	switch {
	case h.Admins != nil:
	case h.room() == 0:
		out = append(out, "no administrators (no room for more slots)")
	case fixed(h.Clients, 1) == lock.MaxClients:
		out = append(out, "no administrators (no room for more clients)")
	}
	if h.CrashShare != nil {
		out = append(out, fmt.Sprintf("a crash in %v of operations", *h.CrashShare))
	}
	return strings.Join(out, ", ")
}

// mostSlots is how many slots a lock of that type can begin with, so that its administrators can add theirs.
func mostSlots(kind lock.Kind, admins int) int {
	switch kind {
	case lock.Mutex:
		return 0
	case lock.PersistentMutex:
		return 1
	}
	return min(monitor.Slots-1, monitor.Slots-addedEach*admins)
}

// fixed is a value, or another where it is left open.
func fixed[T any](value *T, open T) T {
	if value == nil {
		return open
	}
	return *value
}

// clients is how many clients there are: as is fixed, or as is drawn, as far as there is room.
func (h *Shape) clients(drawn func() int) int {
	if h.Clients != nil {
		return *h.Clients
	}
	return min(drawn(), lock.MaxClients-fixed(h.Admins, 0))
}

// admins is the number of administrators for the given number of clients.
func (h *Shape) admins(clients int, drawn func() int) int {
	if h.Admins != nil {
		return *h.Admins
	}
	return min(drawn(), lock.MaxClients-clients, h.room())
}

// room is how many administrators can add slots beside those that locks begin with.
func (h *Shape) room() int { return (monitor.Slots - h.top()) / addedEach }

// shapedFaults draws the crashes and restarts whose number is fixed.
func (d draw) shapedFaults(s *scenario.Scenario, kind lock.Kind) {
	if share := fixed(d.shape.CrashShare, 0); share > 0 {
		for c := range s.Clients {
			if at := d.dying(s.Clients[c].Ops, kind, share); at > 0 {
				f := scenario.Fault{Do: faultKinds[d.below(crashKinds)], Client: uint8(c + 1), At: uint16(at)}
				f.Delay = d.delay()
				s.Faults = append(s.Faults, f)
			}
		}
	}
	for range fixed(d.shape.Restarts, 0) {
		s.Faults = append(s.Faults, scenario.Fault{Do: scenario.Restart, At: uint16(1 + d.below(d.spread(s)))})
	}
}

// dying draws the command at which a client dies, 0 for none: each operation is as likely to be its last.
func (d draw) dying(ops []scenario.Operation, kind lock.Kind, share float64) int {
	sent, holding := 0, false
	for _, o := range ops {
		if !scenario.Sensible(o.Op, holding) {
			continue
		}
		if o.Op == lock.Acquire || o.Op == lock.Release {
			holding = o.Op == lock.Acquire
		}
		commands := usualCommands(o.Op, kind)
		if d.chance(share) {
			return sent + 1 + d.below(commands)
		}
		sent += commands
	}
	return 0
}

// usualCommands is how many commands an operation takes in the usual case.
func usualCommands(op lock.Op, kind lock.Kind) int {
	switch {
	case op == lock.Verify || op == lock.Refresh || op == lock.Release || kind == lock.Mutex:
		return 1
	}
	return 6
}

// chance is true that often, of all draws.
func (d draw) chance(share float64) bool {
	const fine = 20 // bits
	return float64(d.Bits(fine)) < share*(1<<fine)
}

// stepsEach is the bound of steps for each operation, on average, of a fixed workload. It is many times what eight
// contending clients of the reference take.
const stepsEach = 50

// steps is how many steps an execution may take, 0 for as many as usual.
func (h *Shape) steps(s *scenario.Scenario) int {
	if h.Clients == nil && h.Admins == nil && h.Slots == nil && h.Rounds == nil {
		return 0
	}
	return min(max(scenario.MaxSteps, operations(s)*stepsEach), scenario.MostSteps)
}

func operations(s *scenario.Scenario) (n int) {
	for i := range s.Clients {
		n += len(s.Clients[i].Ops)
	}
	return n
}

// spread is the number of steps over which faults and PCT's changes are spread, and the number of random choices
// before they repeat. More rounds make it larger.
func (d draw) spread(s *scenario.Scenario) int {
	const most = 1000
	if d.shape.Rounds == nil {
		return stepsSpread
	}
	return min(max(stepsSpread, 4*operations(s)), most)
}

// later draws how much later than usual a fault may come where rounds make for longer executions.
func (d draw) later(s *scenario.Scenario) uint16 {
	if d.shape.Rounds == nil {
		return 0
	}
	return uint16(d.below(d.spread(s) / len(s.Clients)))
}
