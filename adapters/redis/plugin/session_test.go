package plugin

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/redis/resp"
	"github.com/lockproof/lockproof/internal/gatetest"
)

// TestDeep: attributes that are nested too deeply are refused.
func TestDeep(t *testing.T) {
	if _, _, err := resp.Read([]byte(strings.Repeat("|0\r\n", resp.Deepest+2) + ":1\r\n")); !errors.Is(err, resp.ErrProtocol) {
		t.Error(err)
	}
}

// FuzzSession: no bytes from a client or a server make the parser panic or return a message longer than its input.
func FuzzSession(f *testing.F) {
	f.Add([]byte("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\nPING\r\n"), []byte("+OK\r\n-ERR no\r\n"))
	f.Add([]byte("*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n"), []byte(">3\r\n+subscribe\r\n+a\r\n:1\r\n|1\r\n+k\r\n:1\r\n%1\r\n+a\r\n_\r\n"))
	f.Fuzz(func(t *testing.T, sent, said []byte) { gatetest.Feed(t, protocol{new(scripts)}.Session(), sent, said) })
}

// TestLoaded: a script that a client loads unasked is kept for the next run. A script that it loads because the
// server did not know it is not kept.
func TestLoaded(t *testing.T) {
	kept := new(scripts)
	s := protocol{kept}.Session()
	const text = "return 1"
	load := "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$8\r\n" + text + "\r\n"
	run := "*3\r\n$7\r\nEVALSHA\r\n$40\r\n" + digest(text) + "\r\n$1\r\n0\r\n"
	for _, step := range []struct{ sent, said string }{{run, "-NOSCRIPT No matching script.\r\n"}, {load, "$40\r\n" + digest(text) + "\r\n"}} {
		if _, n, err := s.Command([]byte(step.sent)); n != len(step.sent) || err != nil {
			t.Fatal(n, err)
		}
		if _, n, settles, err := s.Reply([]byte(step.said)); n != len(step.said) || settles != 1 || err != nil {
			t.Fatal(n, settles, err)
		}
	}
	if all := kept.texts(); len(all) != 0 {
		t.Error("kept:", all)
	}
	if _, _, err := (protocol{kept}.Session()).Command([]byte(load)); err != nil {
		t.Fatal(err)
	}
	if all := kept.texts(); len(all) != 1 || all[0] != text {
		t.Error("kept:", all)
	}
}
