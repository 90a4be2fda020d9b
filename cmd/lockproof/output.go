package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/histories"
)

// outputFlags say what is written besides the card.
type outputFlags struct {
	json  bool
	junit string
	html  string
	out   string
}

func (f *outputFlags) register(cmd *cobra.Command) {
	f.registerReport(cmd)
	cmd.Flags().StringVar(&f.out, "out", "counterexamples", "the `DIRECTORY` that counterexamples and recorded histories are written to")
}

// registerReport registers the flags of a run that has no counterexamples to write.
func (f *outputFlags) registerReport(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print the report as JSON instead of the card")
	flags.StringVar(&f.junit, "junit", "", "write the report as JUnit XML to a `FILE`")
	flags.StringVar(&f.html, "html", "", "write the report, diagrams and histories as one HTML `FILE`")
}

// write writes what a run came to, counterexamples first, so that they are there whatever happens
// next, and gives the run's exit code as an error.
func (f *outputFlags) write(c *cobra.Command, res *lockproof.Result) error {
	if err := f.save(res); err != nil {
		return err
	}
	if err := f.files(res); err != nil {
		return err
	}
	if err := f.print(c.OutOrStdout(), res.Report); err != nil {
		return err
	}
	switch {
	case !res.Report.Holds():
		return errViolated
	case res.Report.Interrupted:
		return errInterrupted
	}
	return nil
}

// save writes the counterexamples and puts into the report how to see them again.
func (f *outputFlags) save(res *lockproof.Result) error {
	for _, ce := range res.Counterexamples(commandLine()) {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return fmt.Errorf("counterexamples: %w; --out names another directory", err)
		}
		path := filepath.Join(f.out, histories.FileName(ce.Property, ce.Scenario.Target))
		if err := ce.Save(path); err != nil {
			return err
		}
		found := res.Report.Result(ce.Property).Violation
		found.File, found.Command = path, "lockproof replay "+path
	}
	return nil
}

func (f *outputFlags) files(res *lockproof.Result) error {
	if f.junit != "" {
		if err := histories.Replace(f.junit, func(w io.Writer) error { return histories.WriteJUnit(w, res.Report) }); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	if f.html != "" {
		if err := histories.Replace(f.html, func(w io.Writer) error { return res.WritePage(w) }); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
	}
	return nil
}

func (f *outputFlags) print(w io.Writer, r *histories.Report) error {
	if f.json {
		return histories.WriteJSON(w, r)
	}
	return histories.WriteCard(w, r, style())
}

// commandLine is what was typed, for the record of a counterexample, and as a shell takes it.
func commandLine() string {
	words := []string{"lockproof"}
	for _, arg := range os.Args[1:] {
		if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?[]{}~#!`") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// pairs are options as name=value.
func pairs(options []string) ([][2]string, error) {
	var out [][2]string
	for _, o := range options {
		name, value, ok := strings.Cut(o, "=")
		if !ok {
			return nil, fmt.Errorf("--option %q: expected name=value", o)
		}
		out = append(out, [2]string{name, value})
	}
	return out, nil
}
