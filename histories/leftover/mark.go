package leftover

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// markLength is the number of characters of a mark. Together they have 50 random bits.
const markLength = 10

// Mark makes a random mark and a secret. The mark, the hash of the secret, becomes a part of the names of what this run
// creates on a server. A note with the secret on the server proves that lockproof chose a name: nobody can find a
// secret for a name of another program.
func Mark() (mark, secret string) {
	secret = strings.ToLower(rand.Text())
	return markOf(secret), secret
}

// Proved reports whether a mark is the hash of a secret, so that lockproof has made it.
func Proved(mark, secret string) bool { return markOf(secret) == mark }

func markOf(secret string) string {
	sum := sha256.Sum256([]byte("lockproof mark " + secret))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:markLength])
}
