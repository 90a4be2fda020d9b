package plugin

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/model/backend"
)

const (
	putHeld   = "PUT /v1/kv/jobs?acquire=s-1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"
	saidFalse = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nfalse\n"
	saidMade  = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n{\"ID\":\"s-1\"}\r\n0\r\n\r\n"
)

// Requests and answers are parsed as complete messages, even if the bytes arrive in arbitrary pieces.
func TestCut(t *testing.T) {
	for end := range len(putHeld) {
		if _, n, err := new(session).Command([]byte(putHeld[:end])); n != 0 || err != nil {
			t.Fatalf("%d bytes: %d, %v", end, n, err)
		}
	}
	for _, answer := range []string{saidFalse, saidMade} {
		for end := range len(answer) {
			if _, n, _, err := new(session).Reply([]byte(answer[:end])); n != 0 || err != nil {
				t.Fatalf("%q: %d, %v", answer[:end], n, err)
			}
		}
	}
	s, names := new(session), stream.NewNames("")
	c, n, err := s.Command([]byte(putHeld + putHeld))
	if err != nil || n != len(putHeld) || c.Key != "jobs" || c.Access != backend.Create || c.Words(names) != "PUT kv jobs acquire=value1" {
		t.Errorf("%+v %q, %d, %v", c, c.Words(names), n, err)
	}
	r, n, settles, err := s.Reply([]byte(saidFalse + saidMade))
	if err != nil || n != len(saidFalse) || settles != 1 || r.Result != backend.Refused || r.Words(names) != "false" {
		t.Errorf("%+v, %d, %d, %v", r, n, settles, err)
	}
	if r, _, _, err := s.Reply([]byte(saidMade)); err != nil || r.Words(names) != "value1" {
		t.Errorf("%+v, %v", r, err)
	}
}

// Bytes that are not HTTP are refused at once, and a header that is too long is refused as well.
func TestNotHTTP(t *testing.T) {
	for _, b := range []string{"\x00\x00\x00\x08\x04\xd2\x16\x2f", "*1\r\n$4\r\nPING\r\n\r\n\r\n", strings.Repeat("a", mostHead+1), "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"} {
		if _, _, err := new(session).Command([]byte(b)); err == nil {
			t.Errorf("%.20q is taken for HTTP", b)
		}
	}
}

// FuzzSession: no bytes from a client or a server make the parser panic or return a message longer than its input.
func FuzzSession(f *testing.F) {
	f.Add([]byte(putHeld+"GET /v1/kv/jobs?index=3&wait=1s HTTP/1.1\r\nHost: a\r\n\r\n"), []byte(saidFalse+saidMade))
	f.Add([]byte("PUT /v1/session/create HTTP/1.1\r\nHost: a\r\nContent-Length: 13\r\n\r\n{\"TTL\":\"10s\"}"), []byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n"))
	f.Fuzz(func(t *testing.T, sent, said []byte) { gatetest.Feed(t, new(session), sent, said) })
}
