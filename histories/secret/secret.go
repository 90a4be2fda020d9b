// Package secret hides passwords in what is shown or stored: in addresses, in their queries, and in options, flags
// and environment variables whose names indicate a secret. The rest of the text stays readable, with *** for the
// password.
package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// mask replaces a secret.
const mask = "***"

// Address is the address of a server. Its String and JSON hide the secret; string(address) is the real address.
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

// Hide hides the secrets of addresses and assignments in a text. In an address that does not parse, since its
// password has special characters, everything up to the last @ is hidden.
func Hide(text string) string {
	return masked(text, merged(append(addresses(text), assignments(text, named)...)))
}

// HideCommand is Hide for a whole command or one of its words; the next word after a flag may be a secret.
func HideCommand(text string) string { return masked(text, inCommand(text)) }

// HideOption hides the secret in an option's value: the whole value if the option's name indicates a secret.
func HideOption(name, value string) string {
	if assigned := name + "="; value != "" && Hide(assigned+"x") != assigned+"x" {
		return mask
	}
	return HideCommand(value)
}

// Masked reports whether a text has a hidden secret.
func Masked(text string) bool { return strings.Contains(text, mask) }

// masked replaces these positions by the mask.
func masked(text string, places []place) string {
	var b strings.Builder
	end := 0
	for _, p := range places {
		b.WriteString(text[end:p.from] + mask)
		end = p.to
	}
	return b.String() + text[end:]
}
