package gatetest

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/gate/stream"
)

// Feed parses all commands in sent, which a client wrote, and all replies in said, which the server wrote. The test
// fails if a message has no description, or is longer than the bytes there are.
func Feed(t *testing.T, s stream.Session, sent, said []byte) {
	t.Helper()
	names := stream.NewNames("part")
	for len(sent) > 0 {
		c, n, err := s.Command(sent)
		if err != nil || n == 0 {
			break
		}
		if c.Words == nil || n > len(sent) {
			t.Fatalf("%d bytes of %d", n, len(sent))
		}
		_ = c.Words(names)
		sent = sent[n:]
	}
	for len(said) > 0 {
		r, n, _, err := s.Reply(said)
		if err != nil || n == 0 {
			break
		}
		if r.Words == nil || n > len(said) {
			t.Fatalf("%d bytes of %d", n, len(said))
		}
		_ = r.Words(names)
		said = said[n:]
	}
}
