package plugin

import (
	"testing"

	"github.com/lockproof/lockproof/internal/gatetest"
)

// FuzzSession: no bytes from a client or a server make the parser panic or return a message longer than its input.
func FuzzSession(f *testing.F) {
	f.Add([]byte("take jobs\n"), []byte("yes\n"))
	f.Add(make([]byte, 2*bytesShown), []byte{0xff})
	f.Fuzz(func(t *testing.T, sent, said []byte) { gatetest.Feed(t, protocol{}.Session(), sent, said) })
}
