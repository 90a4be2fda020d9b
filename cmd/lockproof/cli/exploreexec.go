package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories/style"
)

// external visits the executions of an external program.
func (f *exploreFlags) external(c *cobra.Command, args []string) error {
	if err := f.called(); err != nil {
		return err
	}
	if err := f.settle(c, args, f.Exploration.Options); err != nil {
		return err
	}
	if err := f.fit(c); err != nil {
		return err
	}
	kind := f.program.Kind
	if err := f.callers(c, kind); err != nil {
		return err
	}
	var err error
	if f.Properties, err = f.property.judged(f.property.external(kind, &f.require), kind); err != nil {
		return err
	}
	if err := f.demand(f.Properties, kind); err != nil {
		return err
	}
	_, done := subprocess.LeaveProcessors()
	defer done()
	line := newProgress()
	res, err := gated.Explore(c.Context(), gated.ExploreConfig{
		Lock: f.program, Workload: f.Workload, Judging: f.Judging, Executions: f.executions, Preemptions: f.preempted(c), First: f.Search.First, Found: f.found,
		Progress: func(p engine.Progress) {
			line.part(p.Scenarios, p.Of, "%d executions, at most %d, %s violated", p.Scenarios, p.Of, style.Plural(p.Violated, "property"))
		},
	})
	line.done()
	if err != nil {
		return err
	}
	return f.write(c, res)
}

// preempted returns the bound on preemptions; nil if there is none.
func (f *exploreFlags) preempted(c *cobra.Command) *int {
	if !c.Flags().Changed("preemptions") {
		return nil
	}
	return &f.preemptions
}

// fit adapts the configuration to external clients, and returns an error for flags that they do not support.
func (f *exploreFlags) fit(c *cobra.Command) error {
	err := given(c, "without --clients any: a command's clients are a number; leave it out", "most-slots")
	if err != nil {
		return err
	}
	err = cmp.Or(err, given(c, "with --exec: the broker does not restart in an exploration of a command's clients; leave it out, or have prove draw it", "restarts"))
	if err == nil {
		err = given(c, "with --exec: nothing is done to the clock of somebody's program; leave it out", "clocks")
	}
	if err == nil {
		err = given(c, "with --exec: no states are kept of a command's clients, each execution is run from its beginning; leave it out, --executions is the bound",
			"reduce", "workers", "depth", "memory", "storage", "array", "checkpoint", "every", "resume", "graph")
	}
	if err == nil && f.startFile != "" {
		err = given(c, "with --exec and a counterexample: a command's clients cannot be put in its state; give slots, such as slots=1,3", "start")
	}
	if err == nil {
		err = besideStart(c)
	}
	if err == nil {
		err = given(c, "with --exec: nothing is drawn; leave it out, or use prove", "simulate", "seed")
	}
	if !c.Flags().Changed("crashes") {
		f.Faults.Crashes = 0
	}
	if f.Faults.Restarts = 0; !c.Flags().Changed("admins") {
		f.Admins = 0
	}
	if !c.Flags().Changed("slots") {
		f.Slots = 1
	}
	return err
}
