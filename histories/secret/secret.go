// Package secret hides passwords in what is shown or kept: in addresses, in their queries, and in options and flags that
// are named for one. An address stays readable, with *** in the password's place.
package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// mask stands in the place of a secret.
const mask = "***"

var (
	scheme = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://`)
	query  = regexp.MustCompile(`(?i)([?&;][^=&;\s]*(?:pass|pwd|secret|token|key|auth)[^=&;\s]*=)[^&;\s'"]+`)
	named  = regexp.MustCompile(`(?i)([\w-]*(?:passw|passphrase|pwd|secret)[\w-]*=)('[^']*'|"[^"]*"|[^\s&'"]+)`)
	option = regexp.MustCompile(`(?i)((?:^|\s)--?[\w-]*(?:passw|passphrase|pwd|secret)[\w-]*\s+)('[^']*'|"[^"]*"|[^\s&'"]+)`)
)

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

// Hide is a text whose addresses have no secrets. An address that does not parse, since its password has characters that
// belong elsewhere, loses all up to its last @.
func Hide(text string) string {
	var b strings.Builder
	starts := scheme.FindAllStringIndex(text, -1)
	end := 0
	for i, at := range starts {
		b.WriteString(text[end:at[1]])
		end = at[1]
		until := len(text)
		if i+1 < len(starts) {
			until = starts[i+1][0]
		}
		rest := text[end:until]
		if space := strings.IndexAny(rest, " \t\r\n"); space >= 0 {
			rest = rest[:space]
		}
		if last := strings.LastIndexByte(rest, '@'); last >= 0 {
			if user, _, password := strings.Cut(rest[:last], ":"); password {
				b.WriteString(user + ":")
			}
			b.WriteString(mask)
			end += last
		}
	}
	b.WriteString(text[end:])
	return named.ReplaceAllString(query.ReplaceAllString(b.String(), "${1}"+mask), "${1}"+mask)
}

// Masked reports whether a secret was hidden in a text.
func Masked(text string) bool { return strings.Contains(text, mask) }

// HideCommand is Hide of a command's word or of a whole command, whose options and flags may hold a password as well.
func HideCommand(text string) string {
	return option.ReplaceAllString(Hide(text), "${1}"+mask)
}
