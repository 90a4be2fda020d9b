package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// meant returns the name that is most similar to a word; "" if none is similar.
func meant(word string, names []string) string {
	best, nearest := "", min(len(word)/3, 3)+1
	for _, name := range names {
		if d := distance(word, name); d < nearest {
			best, nearest = name, d
		}
	}
	if best == "" && len(word) >= 3 { // a prefix of a name counts as similar
		if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, word) }); i >= 0 {
			best = names[i]
		}
	}
	return best
}

// distance is the number of edits from one word to another: insertions, deletions, changes, and exchanges of
// neighbouring letters.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, next := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		next[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			next[j+1] = min(last[j]+cost, last[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(t)]
}

// didYouMean returns a hint such as "; did you mean prove?" if a word is similar to one of names, and otherwise "".
func didYouMean(word string, names []string) string {
	if name := meant(word, names); name != "" {
		return fmt.Sprintf("; did you mean %s?", name)
	}
	return ""
}

// quoted returns the first quoted word in an error, which is the unknown name.
func quoted(err error) string {
	_, text, _ := strings.Cut(err.Error(), `"`)
	text, found := strconv.QuotedPrefix(`"` + text)
	if found != nil {
		return ""
	}
	word, _ := strconv.Unquote(text) // strconv.QuotedPrefix has checked the text
	return word
}

// unknownCommand returns the error for an unknown command.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !c.HasParent() && slices.ContainsFunc(lists, func(l list) bool { return l.name == args[0] }) {
		return fmt.Errorf("unknown command %q for %q: %s list %[1]s has them", args[0], c.CommandPath(), c.CommandPath())
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), didYouMean(args[0], names))
}

// nameArguments makes errors name the missing or surplus argument of a command as the usage line does.
func nameArguments(c *cobra.Command) {
	for _, sub := range c.Commands() {
		nameArguments(sub)
	}
	fits, words := c.Args, strings.Fields(c.Use)
	if fits == nil || !c.HasParent() || len(words) < 2 || c.HasSubCommands() {
		return
	}
	words = words[1:]
	if i := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") }); i >= 0 {
		words = words[:i]
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := fits(c, args)
		switch {
		case err == nil:
			return nil
		case len(args) == 0:
			return fmt.Errorf("%s is missing: expected %s %s", strings.Trim(words[0], "[]."), c.CommandPath(), strings.Join(words, " "))
		case len(args) > len(words):
			return fmt.Errorf("%q is one argument too many: expected %s %s", args[len(words)], c.CommandPath(), strings.Join(words, " "))
		}
		return err
	}
}

// unknownFlag improves cobra's error about a flag. It suggests a flag for an unknown one, and says which number was
// expected.
func unknownFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return numberExpected(c, err)
	}
	if now := calledNow(c.Name(), unknown.GetSpecifiedName()); now != "" {
		return fmt.Errorf("--%s is called --%s now", unknown.GetSpecifiedName(), now)
	}
	var names []string
	c.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	if name := meant(unknown.GetSpecifiedName(), names); name != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, name)
	}
	return fmt.Errorf("%w; %s --help-all shows those that there are", err, c.CommandPath())
}

func targetNames() (names []string) {
	for _, t := range engine.Targets() {
		names = append(names, t.Name)
	}
	return names
}

func propertyNames() (names []string) {
	for _, p := range property.Properties {
		names = append(names, p.Name)
	}
	return names
}

func optionNames() (names []string) {
	for _, b := range lock.Backends() {
		for _, o := range b.Defaults.Table() {
			if !slices.Contains(names, o.Name) {
				names = append(names, o.Name)
			}
		}
	}
	return names
}

// completeTargets completes the name of a target in the shell.
func completeTargets(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return targetNames(), cobra.ShellCompDirectiveNoFileComp
}

// completeSeveralTargets completes the names of several targets in the shell.
func completeSeveralTargets(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return targetNames(), cobra.ShellCompDirectiveNoFileComp
}

// completeNames makes the shell complete values of flags that are names.
func completeNames(cmd *cobra.Command) {
	for flag, names := range map[string]func() []string{"property": propertyNames, "require": propertyNames, "option": optionNames, "server": gated.Kinds} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names(), cobra.ShellCompDirectiveNoFileComp
		})
		if err != nil {
			panic(err) // cannot happen: the flag exists
		}
	}
}
