package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// clockError is the value of a flag for a duration that may be zero.
type clockError struct{ span }

// Set implements pflag.Value.
func (e clockError) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > history.MostClockError {
		return errors.New("expected a length of time such as 50ms, or 0s")
	}
	*e.value = d
	return nil
}

// several judges the recordings of several machines, each in its own file, or all in one file whose events name hosts.
func (f *checkFlags) several(c *cobra.Command, files []string, assumed histories.Header, o recorded.CheckOptions) (err error) {
	const orders = "%s: several machines are ordered by their times; leave it out"
	if err := given(c, "beside --clock-error: "+fmt.Sprintf(orders, f.order), "order"); err != nil {
		return err
	}
	switch {
	case f.judging.Audit:
		return errors.New("--audit: of several machines no audit is judged; leave it out")
	case f.html != "":
		return errors.New("--html: of several machines no page is made; leave it out")
	}
	inputs := make([]histories.InputFile, 0, len(files))
	for _, path := range files {
		in, done, err := inputOf(c, path)
		if err != nil {
			return err
		}
		defer done()
		inputs = append(inputs, histories.InputFile{Name: path, In: in})
	}
	machines, err := histories.ReadMachines(inputs, assumed, recorded.MostEvents)
	if err != nil {
		return err
	}
	switch said := c.Flags().Changed("clock-error"); {
	case len(machines.Names) > 1 && !said:
		return fmt.Errorf("%d machines: expected --clock-error, by how much the clocks of two of them may differ: 0s if all have one", len(machines.Names))
	case len(machines.Names) < 2 && said:
		return fmt.Errorf("--clock-error: %s: one machine's clock orders all events; leave it out", o.Source)
	}
	kind := machines.History.Kind
	if kind == lock.Semaphore {
		if err := given(c, ofSemaphore, "reentrant"); err != nil {
			return err
		}
	}
	if err := f.demand(property.Applicable(kind), kind); err != nil {
		return err
	}
	report, err := recorded.CheckMachines(machines, f.clockError, o)
	if err != nil {
		return err
	}
	if said := machines.Notes.String(); said != "" {
		tell(o.Source + ": " + said)
	}
	return f.write(c, &engine.Result{Report: report, Reading: o.Reading()})
}

// ofSemaphore explains why the flag --reentrant does not apply to a semaphore.
const ofSemaphore = "of a semaphore: only a mutex counts how often its holder acquires it; leave it out"

// sourceOf joins the names of files, for reports.
func sourceOf(files []string) string { return strings.Join(files, " and ") }
