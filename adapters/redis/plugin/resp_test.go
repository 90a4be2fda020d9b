package plugin

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/redis/resp"
)

// TestOtherProtocols: bytes of another protocol are refused at once, so that nothing waits for more of them.
func TestOtherProtocols(t *testing.T) {
	for name, b := range map[string]string{
		"AMQP": "AMQP\x00\x00\x09\x01", "PostgreSQL": "\x00\x00\x00\x08\x04\xd2\x16\x2f", "TLS": "\x16\x03\x01\x02\x00", "no strings": "*1\r\n:1\r\n",
		"an endless line": strings.Repeat("x", longestInline+1),
	} {
		if _, n, err := readCommand([]byte(b)); !errors.Is(err, resp.ErrProtocol) || n != 0 {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
	}
	for _, b := range []string{"*1\r\n$4\r\nPIN", "PIN", "*", "\r"} {
		if _, n, err := readCommand([]byte(b)); err != nil || n != 0 {
			t.Errorf("%q, which is not whole: %d bytes, %v", b, n, err)
		}
	}
	if words, n, err := readCommand([]byte("set a 1\r\nget")); len(words) != 3 || n != 9 || err != nil {
		t.Errorf("a line of words: %q, %d bytes, %v", words, n, err)
	}
}
