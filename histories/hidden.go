package histories

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/secret"
)

// withoutSecrets returns the program's command and options with their secrets hidden.
func (c *Counterexample) withoutSecrets() *Counterexample {
	out := &Counterexample{Exec: secret.Command(c.Exec), ExecOptions: maps.Clone(c.ExecOptions)}
	for name, value := range out.ExecOptions {
		out.ExecOptions[name] = secret.HideOption(name, value)
	}
	return out
}

// Hidden says which secrets the counterexample's file hides. variables are the environment variables by which a user
// gives the command's secrets again. options are the names of options with a hidden value.
func (c *Counterexample) Hidden() (variables, options []string) {
	for _, name := range slices.Sorted(maps.Keys(c.ExecOptions)) {
		if value := c.ExecOptions[name]; secret.Masked(value) && secret.HideOption(name, value) == value {
			options = append(options, name)
		}
	}
	return secret.Variables(c.Exec), options
}

// givenAgain describes, for each hidden secret, how a user gives it again, such as "environment variable PASSWORD".
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

// MissingSecrets is the error for hidden secrets that the user did not give again. Variables has texts of the form
// NAME=***, and Options texts of the form -o name=***.
type MissingSecrets struct{ Variables, Options []string }

func (e *MissingSecrets) Error() string {
	return "secrets are hidden and were not given: " + strings.Join(slices.Concat(e.Variables, e.Options), " ")
}

// GiveAgain puts the hidden secrets back. lookup returns a secret of the command by the name of its environment
// variable. options has the secret values of options by the options' names. The error is a [MissingSecrets], or names
// an option that is not hidden.
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

// GiveOptions puts the hidden values of options back. Other options keep the values in the file. The error is a
// [MissingSecrets].
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
