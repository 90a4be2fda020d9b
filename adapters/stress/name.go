package stress

import (
	"regexp"
	"strings"
	"time"

	"github.com/lockproof/lockproof/histories/leftover"
)

// Lock is the name of the lock in recorded histories.
const Lock = "jobs"

// Prefix returns a new prefix for the names of one run's queues on a shared broker. It consists of "lockproof", the
// time, and a random part.
func Prefix() string {
	prefix, _ := Proof()
	return prefix
}

// Proof returns a new prefix as [Prefix] does, and a secret. [Proved] recognizes the secret; only the run that
// created the prefix knows it.
func Proof() (prefix, secret string) {
	mark, secret := leftover.Mark()
	return "lockproof." + time.Now().UTC().Format("20060102T150405Z") + "." + mark + ".", secret
}

// Proved reports whether secret is the secret that [Proof] returned together with prefix. A program that does not know
// the secret cannot pretend to have created the prefix.
func Proved(prefix, secret string) bool {
	if !IsPrefix(prefix) {
		return false
	}
	mark := strings.TrimSuffix(prefix[strings.LastIndexByte(prefix[:len(prefix)-1], '.')+1:], ".")
	return leftover.Proved(mark, secret)
}

// Marked reports whether a name contains a prefix, so that it belongs to a run of lockproof.
func Marked(name string) bool { return marked.MatchString(name) }

// IsPrefix reports whether a text is exactly a prefix as [Prefix] returns it.
func IsPrefix(text string) bool { return marked.FindString(text) == text && text != "" }

var marked = regexp.MustCompile(`lockproof\.[0-9]{8}T[0-9]{6}Z\.[a-z2-7]{10}\.`)
