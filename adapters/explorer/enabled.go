package explorer

import (
	"fmt"

	"github.com/lockproof/lockproof/model/lock"

	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// pauses is the default duration of a pause and of a lapse of time, in milliseconds.
const pauses = 50

// enabled returns all actions that are possible after step at: first those of clients, then faults.
func (x *exploration) enabled(w *sim.World, at int) (all []Choice) {
	var taken scenario.Action
	if at < len(x.trace.Steps) {
		taken = x.trace.Steps[at].Action
	}
	for _, a := range candidates(w, len(x.trace.Scenario.Clients), taken) {
		if w.Can(a) {
			all = append(all, Choice{Action: a, Text: x.says(w, a), Fault: a.Kind.Fault(), Taken: a == taken})
		}
	}
	return all
}

// candidates returns actions of every kind, whether they are possible in w or not. They include taken, the action that
// the execution takes in this state.
func candidates(w *sim.World, clients int, taken scenario.Action) (all []scenario.Action) {
	add := func(kind scenario.ActionKind, c uint8, late bool, arg uint32) {
		all = append(all, scenario.Action{Kind: kind, Client: c, Late: late, Arg: arg})
	}
	for c := uint8(1); int(c) <= clients; c++ {
		add(scenario.Step, c, false, 0)
		for way := range w.Ways(c) {
			add(scenario.Choose, c, false, uint32(way))
		}
	}
	for c := uint8(1); int(c) <= clients; c++ {
		add(scenario.Detect, c, false, 0)
	}
	wake := w.Wake()
	if wake == 0 {
		wake = pauses
	}
	add(scenario.Advance, 0, false, uint32(min(wake, 1<<16-1)))
	for c := uint8(1); int(c) <= clients; c++ {
		for _, late := range []bool{false, true} {
			add(scenario.CrashBefore, c, late, 0)
			add(scenario.CrashEffect, c, late, 0)
			add(scenario.CrashReply, c, late, 0)
			add(scenario.Lose, c, late, 0)
		}
		add(scenario.Drop, c, false, 0)
		add(scenario.ChannelError, c, false, 0)
		add(scenario.Pause, c, false, pauses)
	}
	add(scenario.Restart, 0, false, 0)
	for _, a := range all {
		if a == taken {
			return all
		}
	}
	if taken.Kind != scenario.NoAction {
		all = append(all, taken)
	}
	return all
}

// says returns an action in words, such as "c1 calls acquire".
func (x *exploration) says(w *sim.World, a scenario.Action) string {
	the, late := lock.BackendOf(x.target).Words.The(), ""
	if a.Late {
		late = ", and " + the + " does not notice"
	}
	switch a.Kind {
	case scenario.Step:
		if op := x.next(w, a.Client); op != "" {
			return fmt.Sprintf("c%d calls %s", a.Client, op)
		}
		return fmt.Sprintf("c%d goes on: %s", a.Client, w.Client(a.Client).Phase)
	case scenario.Choose:
		return fmt.Sprintf("c%d chooses way %d", a.Client, a.Arg+1)
	case scenario.Detect:
		return fmt.Sprintf("%s notices that c%d's old connection is dead", the, a.Client)
	case scenario.Advance:
		return fmt.Sprintf("%d ms pass", a.Arg)
	case scenario.CrashBefore:
		return fmt.Sprintf("c%d crashes%s", a.Client, late)
	case scenario.CrashEffect:
		return fmt.Sprintf("c%d's next command takes effect, and it crashes before the reply%s", a.Client, late)
	case scenario.CrashReply:
		return fmt.Sprintf("c%d crashes right after its next reply%s", a.Client, late)
	case scenario.Lose:
		return fmt.Sprintf("c%d's next command takes effect, and the reply is lost%s", a.Client, late)
	case scenario.Drop:
		return fmt.Sprintf("%s drops c%d's connection", the, a.Client)
	case scenario.ChannelError:
		return fmt.Sprintf("%s closes c%d's channel", the, a.Client)
	case scenario.Pause:
		return fmt.Sprintf("c%d stands still for %d ms", a.Client, a.Arg)
	case scenario.Restart:
		return the + " restarts"
	}
	return a.String()
}

// next returns the operation that client c calls next, such as "add 2". It returns "" if the client is in the middle
// of an operation or has none left.
func (x *exploration) next(w *sim.World, c uint8) string {
	st := w.Client(c)
	ops := x.trace.Scenario.Clients[c-1].Ops
	if st.Phase != "" || st.Left == 0 || st.Left > len(ops) {
		return ""
	}
	op := ops[len(ops)-st.Left]
	if op.Arg > 0 {
		return fmt.Sprintf("%s %d", op.Op, op.Arg)
	}
	return op.Op.String()
}
