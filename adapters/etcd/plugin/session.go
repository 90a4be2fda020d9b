package plugin

import (
	"encoding/binary"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/stream"
)

// protocol is the protocol between etcd and its clients: gRPC.
type protocol struct{ leases *leases }

// Session returns the parser for a new connection.
func (p protocol) Session() stream.Session {
	return &session{leases: p.leases, asked: newHeaders(), answered: newHeaders(), calls: make(map[uint32]*call)}
}

// session is a connection. Each call is a stream of HTTP/2. A call's headers go to the server at once, in the order in which
// they came, since header compression depends on this order. The command is the call's message, which waits at the gate.
type session struct {
	leases          *leases
	began           bool // the client has sent the HTTP/2 preface
	greeted         bool // the server has sent something
	asked, answered headers
	calls           map[uint32]*call // calls that the server has not ended, by HTTP/2 stream number
	read            int              // bytes from the server that were handled but not yet returned by Reply
}

// call is a gRPC call that has not ended.
type call struct {
	method  string // name of the method, such as KV/Txn
	asked   []byte // beginning of an incomplete request message
	request []byte // the last complete request message
	told    []byte // beginning of an incomplete answer
	answer  []byte // the last complete answer
}

// mostCalls is the maximum number of simultaneous calls of a connection.
const mostCalls = 1 << 12

// streams are the methods whose calls have several requests and answers.
var streams = map[string]bool{watchMethod: true, keepAlive: true, "Election/Observe": true, "Maintenance/Snapshot": true}

// isStream reports whether the call may have several requests and answers.
func (c *call) isStream() bool { return streams[c.method] }

// methodOf returns the method of a path without its package: KV/Txn for /etcdserverpb.KV/Txn.
func methodOf(path string) string {
	service, method, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return service[strings.LastIndexByte(service, '.')+1:] + "/" + method
}

// Command parses the first frame of b. The frame is a command if it completes a message.
func (s *session) Command(b []byte) (c stream.Sent, n int, err error) {
	aside := stream.Sent{Name: "frame", Aside: true, Words: func(*stream.Names) string { return "frame" }}
	if !s.began {
		if !strings.HasPrefix(preface, string(b[:min(len(b), len(preface))])) {
			return c, 0, errNotHTTP2
		}
		if len(b) < len(preface) {
			return c, 0, nil
		}
		s.began = true
		return aside, len(preface), nil
	}
	f, n, err := readWhole(b)
	if err != nil || n == 0 {
		return c, 0, err
	}
	at := s.calls[f.stream]
	switch {
	case f.kind == frameHeaders:
		return aside, n, s.opens(f, at)
	case at == nil:
	case f.kind == frameReset:
		delete(s.calls, f.stream)
		return cancelled(at, f.stream), n, nil
	case f.kind == frameData:
		whole, err := at.takes(f.payload)
		if err != nil {
			return c, 0, err
		}
		if whole {
			return sent(at, f.stream, s.leases), n, nil
		}
		aside.Call = uint64(f.stream) // a frame that ends the call must not overtake the call's message
	}
	return aside, n, nil
}

// opens handles the headers with which a client begins a call.
func (s *session) opens(f frame, at *call) error {
	path, err := s.asked.read(f.payload, ":path")
	switch {
	case err != nil:
		return err
	case at == nil && len(s.calls) >= mostCalls, path == "" && at == nil:
		return errNotHTTP2
	case at == nil:
		s.calls[f.stream] = &call{method: methodOf(path)}
	}
	return nil
}

// takes adds a part of what the client sends, and reports whether it completes a message.
func (c *call) takes(part []byte) (whole bool, err error) {
	c.asked, c.request, whole, err = cut(c.asked, part, c.request)
	return whole, err
}

// cut appends part to rest, the beginning of an incomplete message. It removes the messages that are complete now,
// and returns the remaining bytes. message is the last complete message, and whole is true. If no message is
// complete, message is last, and whole is false.
func cut(rest, part, last []byte) (_, message []byte, whole bool, err error) {
	rest = append(rest, part...)
	for {
		m, n, err := readMessage(rest)
		if err != nil || n == 0 {
			return rest, last, whole, err
		}
		last, whole, rest = append([]byte(nil), m...), true, append([]byte(nil), rest[n:]...)
	}
}

// Reply parses the server's output up to the end of a message or of a call. Frames before that end are part of the reply,
// since the order of headers must not change.
func (s *session) Reply(b []byte) (r stream.Said, n, settles int, err error) {
	s.greeted = true
	for s.read < len(b) {
		f, m, err := readWhole(b[s.read:])
		if err != nil || m == 0 {
			return r, 0, 0, err
		}
		first := s.read == 0
		s.read += m
		r, settles, whole, err := s.hears(f)
		if err != nil {
			return r, 0, 0, err
		}
		own := f.kind != frameData && f.kind != frameHeaders // neither a call's headers nor a part of its messages
		if !whole && !(first && own) {
			continue
		}
		if n, s.read = s.read, 0; !whole {
			r = stream.Said{Aside: true, Words: func(*stream.Names) string { return "frame" }}
		}
		return r, n, settles, nil
	}
	return r, 0, 0, nil
}

// hears handles a frame from the server. whole is true if the frame completes an answer.
func (s *session) hears(f frame) (r stream.Said, settles int, whole bool, err error) {
	status := ""
	if f.kind == frameHeaders {
		if status, err = s.answered.read(f.payload, "grpc-status"); err != nil {
			return r, 0, false, err
		}
	}
	at := s.calls[f.stream]
	if at == nil || f.kind != frameData && f.kind != frameHeaders && f.kind != frameReset {
		return r, 0, false, nil
	}
	if f.kind == frameData {
		if at.told, at.answer, whole, err = cut(at.told, f.payload, at.answer); err != nil {
			return r, 0, false, err
		}
	}
	switch ends := f.flags&endsStream != 0; {
	case f.kind == frameReset:
		status = "reset"
		if len(f.payload) >= 4 && binary.BigEndian.Uint32(f.payload) == 0 && at.answer != nil {
			status = "0"
		}
		fallthrough
	case ends:
		delete(s.calls, f.stream)
		r = said(at, status, s.leases)
		r.Call = uint64(f.stream)
		return r, len(s.calls) + mostCalls, true, nil
	case whole && at.isStream():
		r, settles = heard(at, s.leases)
		r.Call = uint64(f.stream)
		return r, settles, true, nil
	}
	return r, 0, false, nil
}

// Greets reports whether the server has not sent anything yet. Until it does, clients make no calls.
func (s *session) Greets() bool { return !s.greeted }

// Listens reports whether the server may send something unasked: it does if the client has a watch.
func (s *session) Listens() bool {
	for _, c := range s.calls {
		if c.isStream() && c.method != keepAlive {
			return true
		}
	}
	return false
}
