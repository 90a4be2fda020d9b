package stress

import (
	"regexp"
	"strings"
	"time"

	"github.com/lockproof/lockproof/histories/leftover"
)

// Lock is the lock's name in histories.
const Lock = "jobs"

// Prefix is what the names of one run's queues begin with on a broker that is shared: a mark, the time, and what makes
// it another one than all others.
func Prefix() string {
	prefix, _ := Proof()
	return prefix
}

// Proof is a prefix, and the secret by which [Proved] knows that a run of lockproof's has made the prefix up.
func Proof() (prefix, secret string) {
	mark, secret := leftover.Mark()
	return "lockproof." + time.Now().UTC().Format("20060102T150405Z") + "." + mark + ".", secret
}

// Proved reports whether a text is a prefix, and the secret is the prefix's: whoever tells it claims no name that was there before.
func Proved(prefix, secret string) bool {
	if !IsPrefix(prefix) {
		return false
	}
	mark := strings.TrimSuffix(prefix[strings.LastIndexByte(prefix[:len(prefix)-1], '.')+1:], ".")
	return leftover.Proved(mark, secret)
}

// Marked reports whether there is a prefix in a name, so that it is of a run of lockproof's.
func Marked(name string) bool { return marked.MatchString(name) }

// IsPrefix reports whether a text is a prefix as [Prefix] gives it, and nothing besides.
func IsPrefix(text string) bool { return marked.FindString(text) == text && text != "" }

var marked = regexp.MustCompile(`lockproof\.[0-9]{8}T[0-9]{6}Z\.[a-z2-7]{10}\.`)
