package plugin

import (
	"encoding/binary"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/stream"
)

// protocol is gRPC as clients of etcd speak it.
type protocol struct{ leases *leases }

// Session begins a connection.
func (p protocol) Session() stream.Session {
	return &session{leases: p.leases, asked: newHeaders(), answered: newHeaders(), calls: make(map[uint32]*call)}
}

// session is a connection. Each call is a stream of HTTP/2. Its headers go to the server at once, in the order in which they came,
// as their compression wants it. What counts is its message, which waits at the gate.
type session struct {
	leases          *leases
	began           bool // the client has said that it speaks HTTP/2
	greeted         bool // the server has said something
	asked, answered headers
	calls           map[uint32]*call // that the server has not ended, by stream
	read            int              // bytes of the server's that were looked at and are not cut off yet
}

// call is a call that is not over.
type call struct {
	method  string // such as KV/Txn
	asked   []byte // of a message that is not whole
	request []byte // the last whole message
	told    []byte // of an answer that is not whole
	answer  []byte // the last whole answer
}

// mostCalls is how many calls a connection may have at once.
const mostCalls = 1 << 12

// streams are the methods whose messages and answers come one by one.
var streams = map[string]bool{watchMethod: true, keepAlive: true, "Election/Observe": true, "Maintenance/Snapshot": true}

// isStream reports whether the call's messages and answers come one by one.
func (c *call) isStream() bool { return streams[c.method] }

// methodOf is a method by its path, such as /etcdserverpb.KV/Txn, without the package.
func methodOf(path string) string {
	service, method, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return service[strings.LastIndexByte(service, '.')+1:] + "/" + method
}

// Command cuts off a frame of the client's. It is a command if a message ends with it.
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
		aside.Call = uint64(f.stream) // a frame that only ends the call comes behind its message
	}
	return aside, n, nil
}

// opens begins a call.
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

// takes takes in a part of what the client sends, and reports whether a message has ended.
func (c *call) takes(part []byte) (whole bool, err error) {
	c.asked, c.request, whole, err = cut(c.asked, part, c.request)
	return whole, err
}

// cut takes a part in, and gives the last message that has ended with it.
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

// Reply cuts off what the server says until a message has ended, or a call. Other frames before it go with it: the order of headers
// must not change.
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
		own := f.kind != frameData && f.kind != frameHeaders // it means something to the connection alone
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

// hears takes in a frame of the server's. whole says that an answer has ended with it.
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

// Greets reports whether the server has yet to say something: before it has, clients send no call.
func (s *session) Greets() bool { return !s.greeted }

// Listens reports whether the server may say something unasked: something is watched.
func (s *session) Listens() bool {
	for _, c := range s.calls {
		if c.isStream() && c.method != keepAlive {
			return true
		}
	}
	return false
}
