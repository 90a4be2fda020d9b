package leftover

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// markLength is how many characters a mark has: 50 bits.
const markLength = 10

// Mark makes up a mark for the names of what this run makes on a server, and the secret that the mark is the hash of. A
// note on the server that has the secret proves that lockproof has made the name up. No client can find a secret for a name
// of another program.
func Mark() (mark, secret string) {
	secret = strings.ToLower(rand.Text())
	return markOf(secret), secret
}

// Proved reports whether a secret is that of a mark.
func Proved(mark, secret string) bool { return markOf(secret) == mark }

func markOf(secret string) string {
	sum := sha256.Sum256([]byte("lockproof mark " + secret))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:markLength])
}
