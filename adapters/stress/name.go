package stress

import (
	"crypto/rand"
	"regexp"
	"strings"
	"time"
)

// Lock is the lock's name in histories.
const Lock = "jobs"

// Prefix is what the names of one run's queues begin with on a broker that is shared: a mark, the time, and what makes
// it another one than all others.
func Prefix() string {
	return "lockproof." + time.Now().UTC().Format("20060102T150405Z") + "." + strings.ToLower(rand.Text()[:10]) + "."
}

// Marked reports whether there is a prefix in a name, so that it is of a run of lockproof's.
func Marked(name string) bool { return marked.MatchString(name) }

// IsPrefix reports whether a text is a prefix as [Prefix] gives it, and nothing besides.
func IsPrefix(text string) bool { return marked.FindString(text) == text && text != "" }

var marked = regexp.MustCompile(`lockproof\.[0-9]{8}T[0-9]{6}Z\.[a-z2-7]{10}\.`)
