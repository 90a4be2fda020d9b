package leftover

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// markLength is the number of characters of a mark, which stand for 50 bits.
const markLength = 10

// Mark makes a random mark for the names of what this run creates on a server, and the secret whose hash is the mark.
// A note on the server with the secret proves that lockproof has chosen the name. No client can find a secret for a
// name of another program.
func Mark() (mark, secret string) {
	secret = strings.ToLower(rand.Text())
	return markOf(secret), secret
}

// Proved reports whether a secret belongs to a mark.
func Proved(mark, secret string) bool { return markOf(secret) == mark }

func markOf(secret string) string {
	sum := sha256.Sum256([]byte("lockproof mark " + secret))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:markLength])
}
