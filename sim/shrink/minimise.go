package shrink

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/model/scenario"
)

// Attempt executes a scenario and reports whether it still shows the violation. actions are the actions up to the
// violation.
type Attempt func(*scenario.Scenario) (actions []scenario.Action, shown bool)

// Minimise looks for the smallest scenario that still shows a violation: fewest steps first, then fewest clients,
// faults, context switches and unusual options. The strategy of the scenario's schedule must be Replay. free reports
// whether an option may be changed. Minimise executes at most tries scenarios, or until ctx ends, and returns the
// smallest one that showed the violation. With enough tries, no single part of the result can be removed, and no drawn
// schedule of a smaller workload is shorter.
func Minimise(ctx context.Context, s scenario.Scenario, attempt Attempt, free func(option string) bool, tries int) scenario.Scenario {
	m := minimiser{ctx: ctx, best: s, attempt: remembered(attempt), free: free, left: tries, random: rand.New(rand.NewPCG(1, 1))}
	if !m.try(s) {
		return s
	}
	for m.reduce(); m.reschedule(); m.reduce() {
	}
	return m.best
}

// remembered stores the results of attempts, since different changes may lead to the same scenario.
func remembered(attempt Attempt) Attempt {
	type outcome struct {
		actions []scenario.Action
		shown   bool
	}
	known := make(map[string]outcome)
	return func(s *scenario.Scenario) ([]scenario.Action, bool) {
		key, err := json.Marshal(s)
		if err != nil {
			panic("histories: a scenario can't be written down: " + err.Error())
		}
		o, ok := known[string(key)]
		if !ok {
			o.actions, o.shown = attempt(s)
			known[string(key)] = outcome{slices.Clone(o.actions), o.shown}
		}
		return o.actions, o.shown
	}
}

// reduce tries to remove each part of the scenario, until nothing more can be removed.
func (m *minimiser) reduce() {
	for m.left > 0 {
		before := m.cost
		m.locks()
		m.clients()
		m.operations()
		m.actions()
		m.options()
		m.details()
		m.order()
		if m.cost == before {
			return
		}
	}
}

type minimiser struct {
	ctx     context.Context
	best    scenario.Scenario
	cost    [7]int
	attempt Attempt
	free    func(string) bool
	left    int        // number of scenarios that may still be executed
	random  *rand.Rand // for reschedule; its sequence is the same in every run
}

// try executes a candidate. It keeps the candidate as the best one, and returns true, if the candidate shows the
// violation and is smaller than the best. It also tries to remove the actions after the violation. This can fail, since
// later events may be part of the violation's cause.
func (m *minimiser) try(s scenario.Scenario) bool {
	actions, shown := m.carryOut(&s)
	if !shown {
		return false
	}
	cut := s
	cut.Schedule.Actions = slices.Clone(actions)
	if m.lighter(&cut) && !slices.Equal(actions, s.Schedule.Actions) {
		if _, shown := m.carryOut(&cut); shown {
			s = cut
		}
	}
	if !m.lighter(&s) {
		return false
	}
	m.best, m.cost = s, weigh(&s)
	return true
}

// carryOut executes a scenario and returns the results of the attempt. If no tries are left, shown is false.
func (m *minimiser) carryOut(s *scenario.Scenario) (actions []scenario.Action, shown bool) {
	if m.ctx.Err() != nil {
		m.left = 0
	}
	if m.left == 0 {
		return nil, false
	}
	m.left--
	return m.attempt(s)
}

// lighter reports whether scenario s is smaller than the best one so far.
func (m *minimiser) lighter(s *scenario.Scenario) bool {
	cost := weigh(s)
	return m.cost == [7]int{} || slices.Compare(cost[:], m.cost[:]) < 0
}

// shift tries a candidate in which an operation may take fewer steps, and returns true once try has kept a scenario. It
// first tries the candidate as it is. Then it tries to remove the first 1 to mostShifted steps of each client in turn.
// The client's later steps then keep their places among the other clients' steps.
func (m *minimiser) shift(s scenario.Scenario) bool {
	if m.try(s) {
		return true
	}
	for c := range s.Clients {
		for n := 1; n <= mostShifted; n++ {
			if m.try(withoutFirst(s, uint8(c+1), n)) {
				return true
			}
		}
	}
	return false
}

// mostShifted is the largest number of a client's steps that shift removes.
const mostShifted = 4

// withoutFirst returns the scenario without the first n steps of client c.
func withoutFirst(s scenario.Scenario, c uint8, n int) scenario.Scenario {
	s = s.Clone()
	s.Schedule.Actions = slices.DeleteFunc(s.Schedule.Actions, func(a scenario.Action) bool {
		if a.Kind != scenario.Step || a.Client != c || n == 0 {
			return false
		}
		n--
		return true
	})
	return s
}

// weigh returns the size of a scenario as numbers, the most important first.
func weigh(s *scenario.Scenario) (cost [7]int) {
	last := uint8(0)
	for _, a := range s.Schedule.Actions {
		if a.Kind != scenario.Step {
			cost[2]++
		}
		if a.Late {
			cost[3]++
		}
		if a.Client != last {
			cost[4]++
		}
		last = a.Client
		cost[6] += int(a.Arg)
	}
	cost[0] = len(s.Schedule.Actions)
	cost[1] = len(s.Clients) + len(s.Locks)
	cost[5] = len(s.Changed())
	for _, c := range s.Clients {
		for _, op := range c.Ops {
			cost[6] += 1 + int(op.Arg)
		}
	}
	for _, l := range s.Locks {
		if cost[6] += int(l.Slots); !plain(l.Name) {
			cost[6] += len(l.Name)
		}
	}
	return cost
}

// locks removes unused locks, and renames the others if their names are hard to read.
func (m *minimiser) locks() {
	for i := len(m.best.Locks) - 1; i >= 0 && len(m.best.Locks) > 1; i-- {
		if !slices.ContainsFunc(m.best.Clients, func(c scenario.Client) bool { return c.Lock == i }) {
			s := m.best.Clone()
			removeLock(&s, i)
			m.try(s)
		}
	}
	for i := range m.best.Locks {
		m.change(func(s *scenario.Scenario) bool { return shorter(s.Locks, i) })
	}
}

// removeLock removes lock i, which no client uses.
func removeLock(s *scenario.Scenario, i int) {
	s.Locks = slices.Delete(s.Locks, i, i+1)
	for c := range s.Clients {
		if s.Clients[c].Lock > i {
			s.Clients[c].Lock--
		}
	}
}

// clients tries to remove each client. A scenario keeps at least one client.
func (m *minimiser) clients() {
	for c := len(m.best.Clients); c >= 1 && len(m.best.Clients) > 1; c-- {
		s := m.best.Clone()
		removeClient(&s, c)
		m.try(s)
	}
}

// removeClient removes a client with its actions, and renumbers the others.
func removeClient(s *scenario.Scenario, c int) {
	s.Clients = slices.Delete(s.Clients, c-1, c)
	s.Schedule.Actions = slices.DeleteFunc(s.Schedule.Actions, func(a scenario.Action) bool { return int(a.Client) == c })
	for i := range s.Clients {
		with := &s.Clients[i].With
		switch cmp.Compare(int(*with), c) {
		case 0: // the client does not share a process
			*with = 0
		case +1:
			*with--
		}
	}
	for i := range s.Schedule.Actions {
		if a := &s.Schedule.Actions[i]; int(a.Client) > c {
			a.Client--
		}
	}
}

// operations tries to remove each operation, the last one first.
func (m *minimiser) operations() {
	for c := range m.best.Clients {
		for i := len(m.best.Clients[c].Ops) - 1; i >= 0; i-- {
			s := m.best.Clone()
			s.Clients[c].Ops = slices.Delete(s.Clients[c].Ops, i, i+1)
			m.try(s)
		}
	}
}

// actions tries to remove sequences of consecutive actions, long ones first (delta debugging).
func (m *minimiser) actions() {
	for size := max(1, len(m.best.Schedule.Actions)/2); size >= 1; size /= 2 {
		for from := len(m.best.Schedule.Actions); from >= 0; from-- {
			if from+size > len(m.best.Schedule.Actions) {
				continue
			}
			s := m.best.Clone()
			s.Schedule.Actions = slices.Delete(s.Schedule.Actions, from, from+size)
			m.try(s)
		}
	}
}

// options tries other values of the options: the defaults, and values that make operations shorter.
func (m *minimiser) options() {
	def := m.best.Options.Defaults()
	for _, opt := range def.Table() {
		if !m.free(opt.Name) {
			continue
		}
		for _, v := range slices.Concat([]string{def.Value(opt.Name)}, opt.Short) {
			s := m.best.Clone()
			if o, err := s.Options.With(opt.Name, v); err == nil {
				s.Options = o
				m.shift(s)
			}
		}
	}
}

// details tries smaller numbers: initial slots, arguments, milliseconds, and immediate instead of late detection.
func (m *minimiser) details() {
	for i := range m.best.Locks {
		m.change(func(s *scenario.Scenario) bool { return fewer(&s.Locks[i]) })
	}
	for c := range m.best.Clients {
		for i := range m.best.Clients[c].Ops {
			m.change(func(s *scenario.Scenario) bool { return lower(&s.Clients[c].Ops[i].Arg, 1) })
		}
	}
	for i := range m.best.Schedule.Actions {
		for _, edit := range []func(*scenario.Action) bool{func(a *scenario.Action) bool { return halve(&a.Arg) }, atOnce} {
			m.change(func(s *scenario.Scenario) bool { // the schedule may have become shorter
				return i < len(s.Schedule.Actions) && edit(&s.Schedule.Actions[i])
			})
		}
	}
}

// atOnce makes the server detect the end of a connection at once. It returns false if the action did not ask for a late
// detection.
func atOnce(a *scenario.Action) bool {
	was := a.Late
	a.Late = false
	return was
}

// change applies edit again and again, as long as edit changes something and the result is kept.
func (m *minimiser) change(edit func(*scenario.Scenario) bool) {
	for {
		s := m.best.Clone()
		if !edit(&s) || !m.shift(s) {
			return
		}
	}
}

// shortName is the largest length, in bytes, of a lock name that counts as easy to read.
const shortName = 10

// plain reports whether a name is easy to read: short, and of lower-case letters only.
func plain(name string) bool {
	return len(name) <= shortName && !strings.ContainsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' })
}

// shorter replaces the name of lock i by jobs or other, if it is hard to read and no other lock has the new name. It
// reports whether it has replaced the name.
func shorter(locks []scenario.Lock, i int) bool {
	if plain(locks[i].Name) {
		return false
	}
	for _, name := range []string{"jobs", "other"} {
		if !slices.ContainsFunc(locks, func(l scenario.Lock) bool { return l.Name == name }) {
			locks[i].Name = name
			return true
		}
	}
	return false
}

// fewer removes the last initial slot of a lock, and reports whether it has done so. It keeps the slots of a lock that
// begins with holes, since the violation may depend on them.
func fewer(l *scenario.Lock) bool { return l.Missing == 0 && lower(&l.Slots, 0) }

func lower(n *uint8, least uint8) bool {
	if *n <= least {
		return false
	}
	*n--
	return true
}

func halve(n *uint32) bool {
	if *n == 0 {
		return false
	}
	*n /= 2
	return true
}

// order moves an action to directly after the same client's previous action, so that the schedule has fewer context
// switches. The first two actions stay.
func (m *minimiser) order() {
	for i := 2; i < len(m.best.Schedule.Actions); i++ {
		j := previous(m.best.Schedule.Actions, i)
		if j < 0 || j == i-1 {
			continue
		}
		s := m.best.Clone()
		a := s.Schedule.Actions[i]
		s.Schedule.Actions = slices.Insert(slices.Delete(s.Schedule.Actions, i, i+1), j+1, a)
		m.try(s)
	}
}

// previous returns the index of the same client's action before the i-th action; -1 if there is none.
func previous(actions []scenario.Action, i int) int {
	for j := i - 1; j >= 0; j-- {
		if actions[j].Client == actions[i].Client {
			return j
		}
	}
	return -1
}
