package sim_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestShape: every scenario has the values that its shape fixes. The reference lock violates nothing in it, and it ends
// before the bound of steps.
func TestShape(t *testing.T) {
	semaphore, mutex := amqplock.References[0], reference(t, lock.Mutex)
	for name, c := range map[string]struct {
		target *lock.Target
		shape  sim.Shape
		holds  func(s *scenario.Scenario) bool
	}{
		"seven clients, five slots, no administrator": {semaphore, sim.Shape{Clients: new(7), Slots: new(5), Admins: new(0)},
			func(s *scenario.Scenario) bool { return users(s) == 7 && len(s.Clients) == 7 && s.Locks[0].Slots == 5 }},
		"eight clients leave no room for administrators": {semaphore, sim.Shape{Clients: new(8)},
			func(s *scenario.Scenario) bool { return len(s.Clients) == 8 && users(s) == 8 }},
		"five administrators leave room for three clients": {semaphore, sim.Shape{Admins: new(5), Slots: new(0)},
			func(s *scenario.Scenario) bool { return len(s.Clients) <= 8 && len(s.Clients)-users(s) == 5 }},
		"ten slots leave no room for more": {semaphore, sim.Shape{Slots: new(10)},
			func(s *scenario.Scenario) bool { return s.Locks[0].Slots == 10 && len(s.Clients) == users(s) }},
		"twenty rounds of eight clients": {semaphore, sim.Shape{Clients: new(8), Rounds: new(20)},
			func(s *scenario.Scenario) bool { return calls(s, lock.Acquire) == 160 && calls(s, lock.Release) == 160 }},
		"fifty rounds of a mutex": {mutex, sim.Shape{Clients: new(3), Rounds: new(50)},
			func(s *scenario.Scenario) bool { return calls(s, lock.Acquire) == 150 }},
		"no crashes": {semaphore, sim.Shape{CrashShare: new(0.0)},
			func(s *scenario.Scenario) bool { return crashes(s) == 0 }},
		"everybody dies": {semaphore, sim.Shape{CrashShare: new(1.0), Rounds: new(1)},
			func(s *scenario.Scenario) bool { return crashes(s) == len(s.Clients) }},
		"two restarts": {semaphore, sim.Shape{Restarts: new(2)},
			func(s *scenario.Scenario) bool { return faults(s, scenario.Restart) == 2 }},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.shape.Check(c.target.Kind); err != nil {
				t.Fatal(err)
			}
			source := sim.NewSource(sim.Space{Target: c.target, Shape: c.shape}, 1)
			var r sim.Runner
			for i := range 300 {
				s := source.Scenario(i)
				if !c.holds(&s) {
					t.Fatalf("scenario %d is of another shape: %+v", i, s)
				}
				steps := r.Run(c.target, &s)
				if found, _ := r.Judge(property.Weak); found != 0 || steps == s.StepLimit() {
					t.Fatalf("scenario %d violates %v after %d steps", i, found.Names(), steps)
				}
			}
		})
	}
}

// TestShapeCheck: Check refuses an impossible shape with an error that begins with the wrong field.
func TestShapeCheck(t *testing.T) {
	const large = 1<<31 - 1
	for _, c := range []struct {
		kind  lock.Kind
		shape sim.Shape
		want  string
	}{
		{lock.Semaphore, sim.Shape{}, ""},
		{lock.Mutex, sim.Shape{Admins: new(0), Slots: new(0)}, ""},
		{lock.Semaphore, sim.Shape{Clients: new(0)}, "clients 0: "},
		{lock.Semaphore, sim.Shape{Clients: new(large)}, "clients 2147483647: "},
		{lock.Semaphore, sim.Shape{Admins: new(-1)}, "admins -1: "},
		{lock.Semaphore, sim.Shape{Clients: new(7), Admins: new(2)}, "admins 2: "},
		{lock.Mutex, sim.Shape{Admins: new(1)}, "admins 1: a mutex has no administration"},
		{lock.Semaphore, sim.Shape{Slots: new(large)}, "slots 2147483647: "},
		{lock.Semaphore, sim.Shape{Slots: new(8), Admins: new(2)}, "slots 8: "},
		{lock.PersistentMutex, sim.Shape{Slots: new(2)}, "slots 2: "},
		{lock.Mutex, sim.Shape{Slots: new(1)}, "slots 1: "},
		{lock.Semaphore, sim.Shape{Rounds: new(0)}, "rounds 0: "},
		{lock.Semaphore, sim.Shape{Rounds: new(large)}, "rounds 2147483647: "},
		{lock.Semaphore, sim.Shape{CrashShare: new(1.5)}, "crash-share 1.5: "},
		{lock.Semaphore, sim.Shape{Restarts: new(large)}, "restarts 2147483647: "},
	} {
		err := c.shape.Check(c.kind)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.kind, c.shape, err, c.want)
		}
	}
}

func reference(t *testing.T, kind lock.Kind) *lock.Target {
	t.Helper()
	for _, target := range amqplock.References {
		if target.Kind == kind {
			return target
		}
	}
	t.Fatalf("no reference is a %s", kind)
	return nil
}

// users returns the number of clients that acquire or release, which are not administrators.
func users(s *scenario.Scenario) (n int) {
	for _, c := range s.Clients {
		if !c.Ops[0].Op.Administrative() && c.Ops[0].Op != lock.Wait && c.Ops[0].Op != lock.Count {
			n++
		}
	}
	return n
}

func calls(s *scenario.Scenario, op lock.Op) (n int) {
	for _, c := range s.Clients {
		for _, o := range c.Ops {
			if o.Op == op {
				n++
			}
		}
	}
	return n
}

func crashes(s *scenario.Scenario) int {
	return faults(s, scenario.CrashBefore) + faults(s, scenario.CrashEffect) + faults(s, scenario.CrashReply)
}

func faults(s *scenario.Scenario, do scenario.ActionKind) (n int) {
	for _, f := range s.Faults {
		if f.Do == do {
			n++
		}
	}
	return n
}

// TestShapeSaysNoAdministrators: the text of a shape says if there is no room for administrators.
func TestShapeSaysNoAdministrators(t *testing.T) {
	for want, shape := range map[string]sim.Shape{
		"10 slots, no administrators (no room for more slots)":    {Slots: new(10)},
		"8 clients, no administrators (no room for more clients)": {Clients: new(8)},
		"3 slots":                    {Slots: new(3)},
		"0 administrators, 10 slots": {Admins: new(0), Slots: new(10)},
	} {
		if got := shape.String(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
