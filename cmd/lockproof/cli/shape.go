package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// shapeFlags define the workload. In drawn scenarios, numbers that are not given are drawn. In a stress run on a real
// broker, they have defaults.
type shapeFlags struct {
	clients, admins, slots, rounds, restarts int
	crashShare                               float64
	begin                                    scenario.SlotSet
}

func (f *shapeFlags) register(cmd *cobra.Command) {
	*f = shapeFlags{clients: 5, admins: 1, slots: 2, rounds: 200, crashShare: 0.02}
	flags := cmd.Flags()
	flags.IntVar(&f.clients, "clients", f.clients, "how many clients acquire")
	flags.IntVar(&f.admins, "admins", f.admins, "how many clients administer")
	flags.IntVar(&f.slots, "slots", f.slots, "how many slots a lock begins with")
	flags.IntVar(&f.rounds, "rounds", f.rounds, "how often a client acquires, verifies and releases; under stress all begin each round at one instant")
	flags.Float64Var(&f.crashShare, "crash-share", f.crashShare, "the share of operations in which a client dies")
	flags.IntVar(&f.restarts, "restarts", 0, "how often the broker is restarted; a real one must be started here")
	flags.Var(startFlag{&f.begin}, "start", "begin with these slots, holes or slots beyond one that are left behind, such as slots=1,3")
	for _, name := range []string{"clients", "admins", "slots", "rounds", "crash-share", "restarts"} {
		flag := flags.Lookup(name)
		flag.DefValue = "drawn; " + flag.DefValue + " under stress"
	}
}

// shape returns the fixed part of scenarios for a lock type.
func (f *shapeFlags) shape(c *cobra.Command, kind lock.Kind) (h sim.Shape, err error) {
	for name, n := range map[string]struct {
		from *int
		to   **int
	}{
		"clients": {&f.clients, &h.Clients}, "admins": {&f.admins, &h.Admins}, "slots": {&f.slots, &h.Slots},
		"rounds": {&f.rounds, &h.Rounds}, "restarts": {&f.restarts, &h.Restarts},
	} {
		if c.Flags().Changed(name) {
			*n.to = n.from
		}
	}
	if c.Flags().Changed("crash-share") {
		h.CrashShare = &f.crashShare
	}
	h.Start = f.begin
	if err := h.Check(kind); err != nil {
		return h, fmt.Errorf("--%w", err)
	}
	return h, nil
}

// load returns the workload of a stress run for a lock type. A number that the lock type does not support is an error
// if it was given, and is ignored otherwise.
func (f *shapeFlags) load(c *cobra.Command, kind lock.Kind, seed uint64) (stress.Load, error) {
	asked := stress.Load{
		Slots: f.slots, Clients: f.clients, Admins: f.admins, Rounds: f.rounds, Verifies: 2, CrashShare: f.crashShare, Seed: seed,
	}
	load := asked.Fit(kind)
	if c.Flags().Changed("slots") {
		load.Slots = asked.Slots
	}
	if c.Flags().Changed("admins") {
		load.Admins = asked.Admins
	}
	if err := load.Check(kind); err != nil {
		return load, fmt.Errorf("--%w", err)
	}
	if f.restarts < 0 || f.restarts > f.rounds {
		return load, fmt.Errorf("--restarts %d: expected 0 to the number of rounds, %d", f.restarts, f.rounds)
	}
	return load, nil
}
