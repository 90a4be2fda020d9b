package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/engine/libraries"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories"
)

// librariesFlags are the flags of `libraries`.
type librariesFlags struct {
	libraries.Config
	catalogue, out string
}

func librariesCommand() *cobra.Command {
	var f librariesFlags
	cmd := &cobra.Command{
		Use:   "libraries [NAME…]",
		Short: "judge published lock libraries, and make a table of them",
		Long: `Judges the libraries of a catalogue, one after the other, or those whose names begin as is said,
each as "lockproof prove --exec" with --server does, and prints a table: whether each is safe,
recovers, and which promises it breaks. A violation is written as a counterexample that replays.

The catalogue is a file in YAML: a list of libraries, each with library, version, server, exec (the
command of its adapter, which runs in the catalogue's folder), and where it needs them servers, lock,
language, by (npm, go or debian) and package, which say how it is installed, and known, which are
findings that were confirmed. A library whose version is not installed is skipped, with what to run.
The catalogue of lockproof's own repository is testdata/libraries/catalogue.yaml.

With --stock, each finding is repeated on stock servers, without a gate and with the machine's clock:
clients call what they called, each command up to 5 ms late. What is printed is in how many rounds it
went wrong.

The exit code is 1 if a library violates something that is not known of it, 2 if one could not be
judged, and 4 if all were skipped.`,
		Example: `  lockproof libraries
  lockproof libraries redlock --time 30s
  lockproof libraries redis-lock --stock 100
  lockproof libraries --catalogue my/catalogue.yaml`,
		GroupID: "study",
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.catalogue, "catalogue", filepath.Join("testdata", "libraries", "catalogue.yaml"), "the `FILE` that lists them")
	flags.Uint64Var(&f.Seed, "seed", 1, "what decides every scenario")
	f.Executions = gated.DefaultScenarios
	flags.Var(number[int]{&f.Executions, 1, manyScenarios}, "scenarios", "how many scenarios are drawn for each, of an execution each")
	f.Time = time.Minute
	flags.Var(span{&f.Time}, "time", "how long each may take, about")
	flags.StringVar(&f.out, "out", "counterexamples", "write the counterexamples to a `DIRECTORY`")
	flags.Var(number[int]{&f.Stock, 0, manyScenarios}, "stock", "repeat each finding so many `ROUNDS` on stock servers, without a gate")
	registerTables(cmd)
	return cmd
}

func (f *librariesFlags) run(c *cobra.Command, names []string) error {
	chosen, err := libraries.Load(f.catalogue)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no catalogue of libraries at %s: name one by --catalogue, or begin in a clone of lockproof's repository", f.catalogue)
	}
	if err != nil {
		return err
	}
	chosen = slices.DeleteFunc(chosen, func(l libraries.Library) bool {
		return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(l.Title(), n) })
	})
	if len(chosen) == 0 {
		return fmt.Errorf("%s: no library's name begins with %s", f.catalogue, strings.Join(names, " or "))
	}
	rows, err := f.judge(c, chosen)
	if len(rows) == 0 {
		return err
	}
	err = all(err, libraries.WriteTable(c.OutOrStdout(), rows))
	written := writeTables(c, func(w io.Writer) error { return libraries.WriteMarkdown(w, rows) })
	return all(err, written, verdictOn(rows))
}

// judge judges libraries one after the other.
func (f *librariesFlags) judge(c *cobra.Command, chosen []libraries.Library) (rows []libraries.Row, err error) {
	_, done := subprocess.LeaveProcessors()
	defer done()
	var lost []error
	f.Folder, f.Stderr = filepath.Dir(f.catalogue), io.Discard
	f.Found = func(l *libraries.Library, ce *histories.Counterexample) {
		ce.Origin.Command = commandLine()
		_, err := saveIn(c.Flags().Lookup("out"), histories.FileName(ce.Property, l.Title()), ce)
		lost = append(lost, err)
	}
	line := newProgress()
	defer line.done()
	for i := range chosen {
		line.part(i, len(chosen), "%d of %d libraries, %s", i, len(chosen), chosen[i].Title())
		row := f.Judge(c.Context(), &chosen[i])
		if c.Context().Err() != nil {
			return rows, errInterrupted
		}
		rows = append(rows, row)
	}
	return rows, all(lost...)
}

// verdictOn returns the error with which the command ends: for unknown violations, or for libraries that could not be
// judged.
func verdictOn(rows []libraries.Row) error {
	var errs []error
	for i := range rows {
		if rows[i].Unexpected() != 0 {
			return errViolated
		}
		if rows[i].Report == nil && rows[i].Skipped == "" {
			errs = append(errs, fmt.Errorf("%s could not be judged", rows[i].Library.Title()))
		}
	}
	if !slices.ContainsFunc(rows, func(r libraries.Row) bool { return r.Skipped == "" }) {
		return errInconclusive
	}
	return errors.Join(errs...)
}
