// Package secret hides passwords in what is shown or stored. It finds them in addresses and their queries, and in
// options, flags and environment variables whose names indicate a secret. A password is replaced by ***, and the other
// text stays readable.
package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// mask is the text that replaces a secret.
const mask = "***"

// Address is the address of a server, such as a URL with a password. Printing it, or writing it as JSON, hides the
// password; string(address) does not.
type Address string

// String is the address without its secret.
func (a Address) String() string { return Hide(string(a)) }

// Format writes the address without its secret, for every format verb.
func (a Address) Format(s fmt.State, verb rune) {
	if verb == 'q' {
		fmt.Fprintf(s, "%q", a.String())
		return
	}
	_, _ = io.WriteString(s, a.String())
}

// MarshalJSON writes the address without its secret.
func (a Address) MarshalJSON() ([]byte, error) { return json.Marshal(a.String()) }

// Hide hides the secrets in addresses and assignments in a text. In an address, everything between the user's name and
// the last @ is hidden, since a password may contain special characters.
func Hide(text string) string {
	return masked(text, merged(append(addresses(text), assignments(text, named)...)))
}

// HideCommand hides the secrets in a shell command or one of its words. The word after a flag such as --password is
// hidden too.
func HideCommand(text string) string { return masked(text, inCommand(text)) }

// HideOption hides the secrets in an option's value. If the option's name indicates a secret, it hides the whole value.
func HideOption(name, value string) string {
	if assigned := name + "="; value != "" && Hide(assigned+"x") != assigned+"x" {
		return mask
	}
	return HideCommand(value)
}

// Masked reports whether a text contains a hidden secret.
func Masked(text string) bool { return strings.Contains(text, mask) }

// masked replaces the text at these positions by ***.
func masked(text string, places []place) string {
	var b strings.Builder
	end := 0
	for _, p := range places {
		b.WriteString(text[end:p.from] + mask)
		end = p.to
	}
	return b.String() + text[end:]
}
