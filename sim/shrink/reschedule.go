package shrink

import (
	"math/rand/v2"
	"slices"

	"github.com/lockproof/lockproof/model/scenario"
)

// schedulesTried is the largest number of random schedules tried for each smaller workload.
const schedulesTried = 150

// longWait is a time in milliseconds. reschedule tries to replace many steps in which only time passes by one such
// wait.
const longWait = 512

// reschedule tries to leave a local minimum, in which no single part can be removed. It makes the workload smaller,
// draws random schedules for it, and minimises those that still show the violation. It reports whether the result is
// smaller.
func (m *minimiser) reschedule() bool {
	for _, edit := range m.edits() {
		s := m.best.Clone()
		if !edit(&s) {
			continue
		}
		for range schedulesTried {
			if m.left == 0 {
				return false
			}
			c := s.Clone()
			c.Schedule.Actions = redraw(&c, m.random)
			if m.settle(c) {
				return true
			}
		}
	}
	return false
}

// settle minimises only the actions of a candidate. If the result is smaller than the best, it keeps the result and
// returns true.
func (m *minimiser) settle(s scenario.Scenario) bool {
	sub := minimiser{ctx: m.ctx, attempt: m.attempt, free: m.free, left: m.left}
	shown := sub.try(s)
	if shown {
		sub.actions()
	}
	m.left = sub.left
	if !shown || slices.Compare(sub.cost[:], m.cost[:]) >= 0 {
		return false
	}
	m.best, m.cost = sub.best, sub.cost
	return true
}

// edits returns functions that each make the workload smaller in one way; the first one leaves it unchanged. Each
// returns false if it does not apply.
func (m *minimiser) edits() []func(*scenario.Scenario) bool {
	edits := []func(*scenario.Scenario) bool{func(*scenario.Scenario) bool { return true }}
	add := func(edit func(*scenario.Scenario) bool) { edits = append(edits, edit) }
	for c := range m.best.Clients {
		add(func(s *scenario.Scenario) bool { removeClient(s, c+1); return len(s.Clients) > 0 })
		for i := range m.best.Clients[c].Ops {
			add(func(s *scenario.Scenario) bool {
				s.Clients[c].Ops = slices.Delete(s.Clients[c].Ops, i, i+1)
				return true
			})
			add(func(s *scenario.Scenario) bool { return lower(&s.Clients[c].Ops[i].Arg, 1) })
		}
	}
	add(func(s *scenario.Scenario) bool {
		s.Schedule.Actions = append(s.Schedule.Actions, scenario.Action{Kind: scenario.Advance, Arg: longWait})
		return true
	})
	for i := range m.best.Locks {
		add(func(s *scenario.Scenario) bool { return fewer(&s.Locks[i]) })
	}
	return edits
}

// redraw returns a random schedule for a scenario: its faults in their order, at random places among steps of random
// clients. An execution skips actions that are not possible when their turn comes.
func redraw(s *scenario.Scenario, random *rand.Rand) []scenario.Action {
	var faults, out []scenario.Action
	for _, a := range s.Schedule.Actions {
		if a.Kind != scenario.Step && a.Kind != scenario.Choose {
			faults = append(faults, a)
		}
	}
	options := s.Options.Facts().Random
	total := 2*len(s.Schedule.Actions) + 8
	for i := range total {
		for len(faults) > 0 && random.IntN(total-i) < len(faults) {
			out, faults = append(out, faults[0]), faults[1:]
		}
		c := uint8(1 + random.IntN(len(s.Clients)))
		out = append(out, scenario.Action{Kind: scenario.Step, Client: c})
		if options {
			out = append(out, scenario.Action{Kind: scenario.Choose, Client: c, Arg: uint32(random.IntN(2))})
		}
	}
	return out[:min(len(out), s.StepLimit())]
}
