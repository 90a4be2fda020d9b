package histories

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/secret"
)

// withoutSecrets replaces the secrets in a program's command and options as in a file.
func (c *Counterexample) withoutSecrets() *Counterexample {
	out := &Counterexample{Exec: secret.Command(c.Exec), ExecOptions: maps.Clone(c.ExecOptions)}
	for name, value := range out.ExecOptions {
		out.ExecOptions[name] = secret.HideOption(name, value)
	}
	return out
}

// Hidden are the secrets that a file hides: the environment variables by which those of its command can be given
// again, and the names of options with hidden values.
func (c *Counterexample) Hidden() (variables, options []string) {
	for _, name := range slices.Sorted(maps.Keys(c.ExecOptions)) {
		if value := c.ExecOptions[name]; secret.Masked(value) && secret.HideOption(name, value) == value {
			options = append(options, name)
		}
	}
	return secret.Variables(c.Exec), options
}

// givenAgain says, for each hidden secret, how to give it again.
func (c *Counterexample) givenAgain() (out []string) {
	variables, options := c.Hidden()
	for _, name := range variables {
		out = append(out, "environment variable "+name)
	}
	for _, name := range options {
		out = append(out, "-o "+name)
	}
	return out
}

// MissingSecrets is the error for a counterexample whose hidden secrets were not given again: environment variables
// as NAME=*** and options as -o name=***.
type MissingSecrets struct{ Variables, Options []string }

func (e *MissingSecrets) Error() string {
	return "secrets are hidden and were not given: " + strings.Join(slices.Concat(e.Variables, e.Options), " ")
}

// GiveAgain restores hidden secrets: those of the command from environment variables, by lookup, and options by their
// names. The error is a [MissingSecrets], or names an option that the file does not hide.
func (c *Counterexample) GiveAgain(lookup func(name string) (value string, ok bool), options map[string]string) error {
	_, hidden := c.Hidden()
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if !slices.Contains(hidden, name) {
			return fmt.Errorf("option %s: the counterexample hides no secret of that name: leave it out", name)
		}
	}
	command, unset := secret.Restore(c.Exec, lookup)
	err := c.GiveOptions(options)
	if len(unset) > 0 {
		var missing MissingSecrets
		if m, ok := err.(*MissingSecrets); ok {
			missing = *m
		}
		for _, name := range unset {
			missing.Variables = append(missing.Variables, name+"=***")
		}
		return &missing
	}
	if err == nil {
		c.Exec = command
	}
	return err
}

// GiveOptions restores hidden options by their names; others keep the file's values. The error is a [MissingSecrets].
func (c *Counterexample) GiveOptions(options map[string]string) error {
	_, hidden := c.Hidden()
	given := maps.Clone(c.ExecOptions)
	var missing MissingSecrets
	for _, name := range hidden {
		value, ok := options[name]
		if !ok {
			missing.Options = append(missing.Options, "-o "+name+"=***")
		}
		given[name] = value
	}
	if len(missing.Options) > 0 {
		return &missing
	}
	c.ExecOptions = given
	return nil
}
