package plugin

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/lockproof/lockproof/adapters/gate/stream"
)

// protocol is HTTP/1.1 (RFC 9112) as clients of Consul speak it.
type protocol struct{}

// Session returns the parser for a new connection.
func (protocol) Session() stream.Session { return new(session) }

// session is the parser for one client's HTTP connection.
type session struct {
	asked []*http.Request // requests without an answer, oldest first
}

// mostHead is the maximum length of the head of a request or an answer.
const mostHead = 1 << 16

// errHead is the error for bytes that are not HTTP/1.1.
var errHead = errors.New("this is not HTTP/1.1, which clients of Consul speak")

// Command parses the first request of b, which is what the client has sent.
func (s *session) Command(b []byte) (c stream.Sent, n int, err error) {
	var r *http.Request
	body, n, err := message(b, func(from *bufio.Reader) (_ io.ReadCloser, err error) {
		if r, err = http.ReadRequest(from); err != nil {
			return nil, err
		}
		return r.Body, nil
	})
	if err != nil || n == 0 {
		return c, 0, err
	}
	s.asked = append(s.asked, r)
	return sent(r, body), n, nil
}

// Reply parses the first answer of b, which is what the server has sent.
func (s *session) Reply(b []byte) (r stream.Said, n, settles int, err error) {
	var to *http.Request
	if len(s.asked) > 0 {
		to = s.asked[0]
	}
	var a *http.Response
	body, n, err := message(b, func(from *bufio.Reader) (_ io.ReadCloser, err error) {
		if a, err = http.ReadResponse(from, to); err != nil {
			return nil, err
		}
		return a.Body, nil
	})
	if err != nil || n == 0 {
		return r, 0, 0, err
	}
	if a.StatusCode < http.StatusOK { // such as 100 Continue; the final answer follows
		return stream.Said{Words: func(*stream.Names) string { return a.Status }}, n, 0, nil
	}
	if to != nil {
		s.asked = s.asked[1:]
	}
	return said(to, a, body), n, 1, nil
}

// Greets returns false, since the client sends first.
func (s *session) Greets() bool { return false }

// Listens returns false, since the server sends only answers.
func (s *session) Listens() bool { return false }

// message parses the first message of b and reads its body. n is the message's length in bytes, 0 if it is
// incomplete.
func message(b []byte, read func(*bufio.Reader) (io.ReadCloser, error)) (body []byte, n int, err error) {
	if head := bytes.Index(b, []byte("\r\n\r\n")); head < 0 && len(b) <= mostHead && plausible(b) {
		return nil, 0, nil
	} else if head < 0 || head > mostHead {
		return nil, 0, errHead
	}
	rest := bytes.NewReader(b)
	from := bufio.NewReader(rest)
	content, err := read(from)
	if err != nil {
		return nil, 0, errHead
	}
	body, err = io.ReadAll(content)
	switch {
	case err != nil && rest.Len()+from.Buffered() < len("\r\n"): // the body is incomplete
		return nil, 0, nil
	case err != nil:
		return nil, 0, errHead
	}
	return body, len(b) - rest.Len() - from.Buffered(), nil
}

// plausible reports whether b may be the beginning of an HTTP header: its first line is text.
func plausible(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return !bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\r' && r != '\t' || r > '~' })
}
