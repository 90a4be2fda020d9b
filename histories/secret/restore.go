package secret

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	assigned = regexp.MustCompile(`(?:^|[^\w?&-])([A-Za-z_]\w*)=['"]?$`)
	variable = regexp.MustCompile(`^\$(?:\w+|\{\w+\})$`)
)

// Command hides the secrets that are written out in a shell command. A reference to an environment variable, such as
// "$PASSWORD", is not hidden.
func Command(command string) string { return masked(command, literal(command)) }

// literal finds the secrets that are written out in a shell command.
func literal(command string) []place {
	return slices.DeleteFunc(inCommand(command), func(p place) bool {
		return quoteAt(command, p.from) != '\'' && variable.MatchString(command[p.from:p.to])
	})
}

// Variables are the names of the environment variables for the secrets that [Command] has hidden, in the order of the
// command. If the command assigns a secret to a variable, this is its name. Other secrets have the names
// LOCKPROOF_SECRET_1, LOCKPROOF_SECRET_2 and so on.
func Variables(hidden string) (names []string) {
	numbered := 0
	for _, p := range hiddenIn(hidden) {
		name := ""
		if m := assigned.FindStringSubmatch(hidden[:p.from]); m != nil {
			name = m[1]
		}
		if name == "" || slices.Contains(names, name) {
			numbered++
			name = fmt.Sprintf("LOCKPROOF_SECRET_%d", numbered)
		}
		names = append(names, name)
	}
	return names
}

// hiddenIn finds the places where secrets are hidden in a command.
func hiddenIn(hidden string) []place {
	return slices.DeleteFunc(inCommand(hidden), func(p place) bool { return hidden[p.from:p.to] != mask })
}

// Restore puts the secrets back into a command whose secrets are hidden. lookup returns the secret for each name of
// [Variables]. missing are the names for which lookup has no secret.
func Restore(hidden string, lookup func(name string) (value string, ok bool)) (command string, missing []string) {
	var b strings.Builder
	end, names := 0, Variables(hidden)
	for i, p := range hiddenIn(hidden) {
		value, ok := lookup(names[i])
		if !ok {
			missing = append(missing, names[i])
		}
		b.WriteString(hidden[end:p.from] + escape(value, quoteAt(hidden, p.from)))
		end = p.to
	}
	return b.String() + hidden[end:], missing
}

// escape escapes a value for a shell command, inside the given kind of quotes; 0 means no quotes.
func escape(value string, quote rune) string {
	switch {
	case quote == '\'':
		return strings.ReplaceAll(value, "'", `'\''`)
	case quote == '"':
		return regexp.MustCompile("[\\\\\"$`]").ReplaceAllString(value, `\$0`)
	case regexp.MustCompile(`^[\w%+,./:=@-]+$`).MatchString(value):
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
