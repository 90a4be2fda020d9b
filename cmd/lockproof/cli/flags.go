package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// given returns an error if one of the flags was given. why says why the flag makes no sense.
func given(c *cobra.Command, why string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s %s", name, why)
		}
	}
	return nil
}

// numberExpected replaces the error for a flag's value that is not a number by one that says which number is expected.
func numberExpected(_ *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var cause *strconv.NumError
	if !errors.As(err, &value) || !errors.As(err, &cause) {
		return err
	}
	expected := "a number"
	switch value.GetFlag().Value.Type() {
	case "uint64":
		expected = "a whole number, 0 to 18446744073709551615"
	case "int", "intSlice":
		expected = "a whole number"
	}
	return fmt.Errorf("invalid argument %q for \"--%s\" flag: expected %s", value.GetValue(), value.GetFlag().Name, expected)
}

// oncePerFile returns an error if an output file is also named elsewhere on the command line: as an argument, in
// another flag, or in the program to run. Otherwise the output could overwrite an input.
func oncePerFile(c *cobra.Command, args []string) error {
	for _, name := range outputs {
		flag := c.Flags().Lookup(name)
		if flag == nil || flag.Value.String() == "" {
			continue
		}
		path := flag.Value.String()
		_, missing := os.Stat(path)
		for _, arg := range args {
			if missing == nil && outfile.Same(path, arg) {
				return fmt.Errorf("--%s would overwrite %s, which the command reads: name another file", name, arg)
			}
		}
		var err error
		c.Flags().VisitAll(func(other *pflag.Flag) {
			if err != nil || other.Name == name || resumes(name, other.Name) || missing != nil && !slices.Contains(outputs, other.Name) {
				return
			}
			if namesFile(other, path) {
				err = fmt.Errorf("--%s and --%s name one file, %s: expected two files", name, other.Name, path)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// resumes reports whether the two flags may name the same file. A resumed search may write its checkpoint to the file
// from which it was resumed.
func resumes(a, b string) bool { return a == "checkpoint" && b == "resume" }

// namesFile reports whether a flag's value, or a word in it, names the file at path.
func namesFile(flag *pflag.Flag, path string) bool {
	if flag.Value.String() == "" || flag.Value.Type() == "bool" {
		return false
	}
	values := []string{flag.Value.String()}
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	}
	for _, value := range values {
		for _, word := range append(strings.Fields(value), value) {
			if outfile.Same(path, word) {
				return true
			}
		}
	}
	return false
}

// notEmpty returns an error for flags with an empty value. An empty value may come from a shell variable that is not
// set.
func notEmpty(c *cobra.Command) (err error) {
	c.Flags().Visit(func(flag *pflag.Flag) {
		var values []string
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		} else if flag.Value.Type() == "string" {
			values = []string{flag.Value.String()}
		}
		for _, value := range values {
			if strings.TrimSpace(value) == "" && err == nil {
				err = fmt.Errorf("--%s is empty: expected a value; or leave it out", flag.Name)
			}
		}
	})
	return err
}

// number is the value of a flag for a number between two bounds.
type number[N int | int64] struct {
	value       *N
	least, most N
}

// Set implements pflag.Value.
func (n number[N]) Set(text string) error {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < int64(n.least) || value > int64(n.most) {
		return fmt.Errorf("expected a number, %d to %d", n.least, n.most)
	}
	*n.value = N(value)
	return nil
}

// String implements pflag.Value.
func (n number[N]) String() string {
	if n.value == nil {
		return "0"
	}
	return strconv.FormatInt(int64(*n.value), 10)
}

// Type implements pflag.Value.
func (n number[N]) Type() string { return "int" }

// orAny is the value of a flag for a number or the word "any".
type orAny struct{ number[int] }

// Set implements pflag.Value.
func (n orAny) Set(text string) error {
	if text == "any" {
		*n.value = explore.AnyNumber
		return nil
	}
	if err := n.number.Set(text); err != nil {
		return fmt.Errorf("%w, or any", err)
	}
	return nil
}

// String implements pflag.Value.
func (n orAny) String() string {
	if n.value != nil && *n.value == explore.AnyNumber {
		return "any"
	}
	return n.number.String()
}

// startFlag is the value of a flag for the initial slots of a lock, for example slots=1,3.
type startFlag struct{ slots *scenario.SlotSet }

// Set implements pflag.Value.
func (s startFlag) Set(text string) (err error) {
	*s.slots, err = explore.ParseStart(text)
	return err
}

// String implements pflag.Value.
func (s startFlag) String() string {
	if s.slots == nil || *s.slots == 0 {
		return ""
	}
	return explore.StartFlag(*s.slots)
}

// Type implements pflag.Value.
func (s startFlag) Type() string { return "SLOTS" }

// defaults replaces the displayed defaults of flags, if they depend on other flags.
func defaults(cmd *cobra.Command, texts map[string]string) {
	for name, text := range texts {
		cmd.Flags().Lookup(name).DefValue = text
	}
}

// beginning is the value of the flag --start of `explore`: either initial slots, or FILE@STEP, a step of a
// counterexample.
type beginning struct {
	startFlag
	file *string
	step *int
}

// Set implements pflag.Value.
func (b beginning) Set(text string) error {
	at := strings.LastIndex(text, "@")
	if strings.HasPrefix(text, "slots=") || at < 0 {
		return b.startFlag.Set(text)
	}
	step, err := strconv.Atoi(text[at+1:])
	if err != nil || step < 0 || at == 0 {
		return fmt.Errorf("%q: expected a counterexample's file and one of its steps, such as ce.json@12", text)
	}
	*b.file, *b.step = text[:at], step
	return nil
}

// String implements pflag.Value.
func (b beginning) String() string {
	if b.file != nil && *b.file != "" {
		return fmt.Sprintf("%s@%d", *b.file, *b.step)
	}
	return b.startFlag.String()
}

// Type implements pflag.Value.
func (b beginning) Type() string { return "WHERE" }

// besideStart returns an error for flags that contradict --start: the number of slots, or whatever a counterexample
// determines.
func besideStart(c *cobra.Command) error {
	if !c.Flags().Changed("start") {
		return nil
	}
	if b, ok := c.Flag("start").Value.(beginning); ok && *b.file != "" {
		return given(c, "beside --start with a counterexample: its locks, options and clients are the exploration's; leave it out",
			"slots", "clients", "admins", "lock", "option")
	}
	return given(c, "beside --start: it says which there are; give one of them", "slots")
}

// Bounds of numbers that have no natural limit. No machine can reach them.
const (
	manyWorkers   = 1024
	manyScenarios = 1_000_000_000_000
	manyMiB       = 1 << 24 // 16 TiB, in MiB
)

// span is the value of a flag for a positive duration.
type span struct{ value *time.Duration }

// Set implements pflag.Value.
func (s span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("expected a length of time such as 30s or 10m")
	}
	if d <= 0 {
		return fmt.Errorf("expected more than nothing")
	}
	*s.value = d
	return nil
}

// String implements pflag.Value.
func (s span) String() string {
	if s.value == nil || *s.value == 0 {
		return "0"
	}
	return s.value.String()
}

// Type implements pflag.Value.
func (s span) Type() string { return "duration" }

// strict is the value of the flag --strict: a failed acquire then promises that all slots were taken at one moment.
type strict struct{ promise *property.FailedAcquire }

// registerStrict registers the flag --strict.
func registerStrict(cmd *cobra.Command, promise *property.FailedAcquire) {
	cmd.Flags().Var(strict{promise}, "strict", "a failed acquire promises that at one moment every slot was taken")
	cmd.Flags().Lookup("strict").NoOptDefVal = "true"
}

// Set implements pflag.Value.
func (s strict) Set(text string) error {
	strong, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("expected true or false")
	}
	*s.promise = property.Weak
	if strong {
		*s.promise = property.Strong
	}
	return nil
}

// String implements pflag.Value.
func (s strict) String() string {
	return strconv.FormatBool(s.promise != nil && *s.promise == property.Strong)
}

// Type implements pflag.Value.
func (strict) Type() string { return "bool" }
