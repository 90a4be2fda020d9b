package question

import (
	"strings"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Visit returns a row for a configuration. judge lists the properties to judge; none means all that apply.
func Visit(setting string, c Configuration, judge ...property.Property) Row {
	return Row{Setting: setting, Configuration: c, Judge: judge}
}

// Options splits options of the form name=value into pairs of name and value.
func Options(options ...string) [][2]string {
	var out [][2]string
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		out = append(out, [2]string{name, value})
	}
	return out
}

// Do returns an operation with its argument, if one is given.
func Do(op lock.Op, arg ...uint8) scenario.Operation {
	o := scenario.Operation{Op: op}
	if len(arg) > 0 {
		o.Arg = arg[0]
	}
	return o
}

// Admins returns a configuration of n administrators and no other clients. All administrators call the same operations.
func Admins(n, slots int, faults sim.FaultBounds, calls []scenario.Operation, options ...string) Configuration {
	return Configuration{Admins: n, Slots: slots, AdminCalls: calls, Options: Options(options...), Faults: faults}
}

// Clients returns a configuration of n clients and no administrator.
func Clients(n, slots int, faults sim.FaultBounds, calls []scenario.Operation, options ...string) Configuration {
	return Configuration{Clients: n, Slots: slots, Calls: calls, Options: Options(options...), Faults: faults}
}

// Both returns a configuration of n clients and one administrator.
func Both(n, slots int, faults sim.FaultBounds, calls, admin []scenario.Operation, options ...string) Configuration {
	return Configuration{Clients: n, Admins: 1, Slots: slots, Calls: calls, AdminCalls: admin, Options: Options(options...), Faults: faults}
}

// Of returns a copy of the configuration for the lock with the given name.
func (c Configuration) Of(target string) Configuration {
	c.Target = target
	return c
}

// Beside returns a copy of the configuration with the given number of administrators.
func (c Configuration) Beside(admins int) Configuration {
	c.Admins = admins
	return c
}

// InTurns returns a copy of the configuration in which each administrator calls its own list of operations.
func (c Configuration) InTurns(calls ...[]scenario.Operation) Configuration {
	c.InTurn = calls
	return c
}

// Named returns a copy of the configuration with locks of the given names.
func (c Configuration) Named(names ...string) Configuration {
	c.Names = names
	return c
}

// Again returns a copy of the configuration with the given number of rounds.
func (c Configuration) Again(rounds int) Configuration {
	c.Rounds = rounds
	return c
}
