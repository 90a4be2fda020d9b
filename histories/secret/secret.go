// Package secret hides passwords in what is shown or kept: in addresses, in their queries, and in options, flags and
// environment variables that are named for one. A text stays readable, with *** in the password's place.
package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// mask stands in the place of a secret.
const mask = "***"

// Address is where a server is. It shows itself without its secret; string(address) is what connects.
type Address string

// String is the address without its secret.
func (a Address) String() string { return Hide(string(a)) }

// Format writes the address without its secret, whatever the verb.
func (a Address) Format(s fmt.State, verb rune) {
	if verb == 'q' {
		fmt.Fprintf(s, "%q", a.String())
		return
	}
	_, _ = io.WriteString(s, a.String())
}

// MarshalJSON is the address without its secret.
func (a Address) MarshalJSON() ([]byte, error) { return json.Marshal(a.String()) }

// Hide is a text whose addresses and assignments have no secrets. An address that does not parse, since its password has
// characters that belong elsewhere, loses all up to its last @.
func Hide(text string) string {
	return masked(text, merged(append(addresses(text), assignments(text, named)...)))
}

// HideCommand is Hide of a command's word or of a whole command, whose flags may have a secret as their next word.
func HideCommand(text string) string { return masked(text, inCommand(text)) }

// HideOption is the value of an option without its secret: all of it where the option is named for one.
func HideOption(name, value string) string {
	if assigned := name + "="; value != "" && Hide(assigned+"x") != assigned+"x" {
		return mask
	}
	return HideCommand(value)
}

// Masked reports whether a secret was hidden in a text.
func Masked(text string) bool { return strings.Contains(text, mask) }

// masked is a text with the mask in these places.
func masked(text string, places []place) string {
	var b strings.Builder
	end := 0
	for _, p := range places {
		b.WriteString(text[end:p.from] + mask)
		end = p.to
	}
	return b.String() + text[end:]
}
