package histories

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// The functions below check that a counterexample's values are possible, such as the numbers of clients and slots. Each
// returns the place of a wrong value and what is wrong.

func checkCounterexample(f *counterexampleFile) (jsontext.Pointer, error) {
	s := &f.Scenario
	if at, err := checkScenario(s); err != nil {
		return "/scenario" + at, err
	}
	if s.Schedule.Strategy != scenario.Replay {
		return "/scenario/schedule/strategy", fmt.Errorf("found %q, expected %q: a counterexample has every action written down", s.Schedule.Strategy, scenario.Replay)
	}
	if steps := len(s.Schedule.Actions) + 1; f.Violation.Step < 1 || f.Violation.Step > steps {
		return "/violation/step", outside(f.Violation.Step, 1, steps)
	}
	for _, c := range []struct {
		name  string
		value uint8
		most  int
	}{
		{"client", f.Violation.Client, len(s.Clients)},
		{"other", f.Violation.Other, len(s.Clients)},
		{"lock", f.Violation.Lock, len(s.Locks) - 1},
	} {
		if int(c.value) > c.most {
			return jsontext.Pointer("/violation").AppendToken(c.name), outside(int(c.value), 0, c.most)
		}
	}
	return checkTries(f)
}

// checkTries checks the numbers of attempts to reproduce a violation. A violation that was reproduced may not be marked
// as suspected.
func checkTries(f *counterexampleFile) (jsontext.Pointer, error) {
	t := f.Tries
	switch {
	case t.Of < 0:
		return "/tries/of", fmt.Errorf("found %d, expected no negative number", t.Of)
	case t.Shown < 0 || t.Shown > t.Of:
		return "/tries/reproduced", outside(t.Shown, 0, t.Of)
	case f.Suspected && t.Shown > 0:
		return "/suspected", fmt.Errorf("found true, expected false: it was reproduced")
	}
	return "", nil
}

func checkScenario(s *scenario.Scenario) (jsontext.Pointer, error) {
	if s.Target == "" {
		return "/target", fmt.Errorf("missing, expected the name of a target")
	}
	if s.Steps < 0 || s.Steps > scenario.MostSteps {
		return "/steps", outside(s.Steps, 0, scenario.MostSteps)
	}
	if err := s.Options.Check(); err != nil {
		return "/options", err
	}
	if n := len(s.Locks); n < 1 || n > lock.MaxLocks {
		return "/locks", fmt.Errorf("found %s, expected 1 to %d", style.Plural(n, "lock"), lock.MaxLocks)
	}
	for i, l := range s.Locks {
		at := item("/locks", i)
		if err := lock.CheckName(l.Name); err != nil {
			return at.AppendToken("name"), err
		}
		if i > 0 && l.Name == s.Locks[0].Name {
			return at.AppendToken("name"), fmt.Errorf("found %q a second time, expected names that differ", l.Name)
		}
		if l.Slots > monitor.Slots {
			return at.AppendToken("slots"), outside(int(l.Slots), 0, monitor.Slots)
		}
		if l.Missing>>l.Slots != 0 {
			return at.AppendToken("missing"), fmt.Errorf("found slots %s, expected some before the last, %d", l.Missing, l.Slots)
		}
	}
	if at, err := checkClients(s); err != nil {
		return at, err
	}
	if at, err := checkFaults(s); err != nil {
		return at, err
	}
	return checkActions(s)
}

func checkClients(s *scenario.Scenario) (jsontext.Pointer, error) {
	if n := len(s.Clients); n < 1 || n > lock.MaxClients {
		return "/clients", fmt.Errorf("found %s, expected 1 to %d", style.Plural(n, "client"), lock.MaxClients)
	}
	for i, c := range s.Clients {
		at := item("/clients", i)
		if c.Lock < 0 || c.Lock >= len(s.Locks) {
			return at.AppendToken("lock"), outside(c.Lock, 0, len(s.Locks)-1)
		}
		if w := int(c.With); w > 0 && (w > len(s.Clients) || s.Clients[w-1].With > 0 || s.Clients[w-1].Lock == c.Lock) {
			return at.AppendToken("with"), fmt.Errorf("found %d, expected another client, of another lock", w)
		}
		if len(c.Ops) > scenario.MaxSteps {
			return at.AppendToken("ops"), fmt.Errorf("found %s, expected at most %d", style.Plural(len(c.Ops), "operation"), scenario.MaxSteps)
		}
		for j, op := range c.Ops {
			at := item(at.AppendToken("ops"), j)
			if op.Op == lock.NoOp {
				return at.AppendToken("op"), fmt.Errorf("missing, expected an operation")
			}
			if low, most := arguments(op.Op); int(op.Arg) < low || int(op.Arg) > most {
				return at.AppendToken("arg"), outside(int(op.Arg), low, most)
			}
		}
	}
	return "", nil
}

// arguments are the smallest and the largest argument that an operation may have.
func arguments(op lock.Op) (low, most int) {
	switch op {
	case lock.Create, lock.Add, lock.Remove, lock.Wait:
		return 1, monitor.Slots
	case lock.Acquire: // the argument is a limit or a priority
		return 0, 1<<8 - 1
	case lock.Release:
		return 0, scenario.Anyway
	}
	return 0, 0
}

func checkFaults(s *scenario.Scenario) (jsontext.Pointer, error) {
	for i, f := range s.Faults {
		if at, err := checkActor(item("/faults", i), f.Do, f.Client, s); err != nil {
			return at, err
		}
	}
	return "", nil
}

func checkActions(s *scenario.Scenario) (jsontext.Pointer, error) {
	const list = jsontext.Pointer("/schedule/actions")
	if n := len(s.Schedule.Actions); s.Schedule.Before < 0 || s.Schedule.Before > n {
		return "/schedule/before", outside(s.Schedule.Before, 0, n)
	}
	if n, limit := len(s.Schedule.Actions), s.StepLimit(); n > limit {
		return list, fmt.Errorf("found %s, expected at most %d", style.Plural(n, "action"), limit)
	}
	for i, a := range s.Schedule.Actions {
		if at, err := checkActor(item(list, i), a.Kind, a.Client, s); err != nil {
			return at, err
		}
	}
	return "", nil
}

// checkActor checks an action and its client. Actions of the broker and of time have no client.
func checkActor(at jsontext.Pointer, do scenario.ActionKind, client uint8, s *scenario.Scenario) (jsontext.Pointer, error) {
	if do == scenario.NoAction {
		return at.AppendToken("do"), fmt.Errorf("missing, expected an action")
	}
	low, most := 1, len(s.Clients)
	if do.Global() {
		low, most = 0, 0
	}
	if int(client) < low || int(client) > most {
		return at.AppendToken("client"), outside(int(client), low, most)
	}
	return "", nil
}

func item(at jsontext.Pointer, i int) jsontext.Pointer { return at.AppendToken(strconv.Itoa(i)) }

func outside(found, low, most int) error {
	if low == most {
		return fmt.Errorf("found %d, expected %d", found, low)
	}
	return fmt.Errorf("found %d, expected %d to %d", found, low, most)
}
