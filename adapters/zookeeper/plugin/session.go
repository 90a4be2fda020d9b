package plugin

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/backend"
)

// protocol is the protocol between ZooKeeper and its clients.
type protocol struct{ sessions *sessions }

// Session returns the parser for a new connection.
func (p protocol) Session() stream.Session {
	return &session{sessions: p.sessions, sent: make(map[int32]request)}
}

// session is a connection, which belongs to one of ZooKeeper's sessions.
type session struct {
	sessions *sessions
	asked    bool  // the client has sent its request to begin a session
	lasts    int32 // session timeout that the client is told, in milliseconds
	id       int64 // number of ZooKeeper's session; 0 before it begins
	sent     map[int32]request
}

// request is a request that has no reply yet.
type request struct{ kind int32 }

const (
	mostRecord   = 4 << 20 // maximum length of a request or a reply; ZooKeeper accepts 1 MiB
	mostRequests = 1 << 12 // maximum number of requests without a reply
	hour         = 3_600_000
	// connecting is the number of the request that begins a session; it is larger than the numbers of other requests.
	connecting = 1 << 40
	// timeAskedAt and timeToldAt are the offsets of the session timeout in the request that begins a session, and in the
	// answer, after the length.
	timeAskedAt, timeToldAt = 4 + 12, 4 + 4
)

// errNotZooKeeper is the error if bytes are no request of ZooKeeper's protocol.
var errNotZooKeeper = errors.New("this is not ZooKeeper's protocol without TLS, which its clients speak")

// cutRecord parses the first record of b. n is its length, 0 if it is incomplete.
func cutRecord(b []byte) (r *record, n int, err error) {
	if len(b) < 4 {
		return nil, 0, nil
	}
	size := binary.BigEndian.Uint32(b)
	if size > mostRecord {
		return nil, 0, errNotZooKeeper
	}
	if n = 4 + int(size); len(b) < n {
		return nil, 0, nil
	}
	return &record{b[4:n]}, n, nil
}

// Command parses the first request of b, which is what the client has sent.
func (s *session) Command(b []byte) (c stream.Sent, n int, err error) {
	r, n, err := cutRecord(b)
	if err != nil || n == 0 {
		return c, 0, err
	}
	if !s.asked {
		if n < timeAskedAt+4 {
			return c, 0, errNotZooKeeper
		}
		return s.connects(slices.Clone(b[:n])), n, nil
	}
	xid, kind := r.int(), r.int()
	if len(s.sent) >= mostRequests {
		return c, 0, errNotZooKeeper
	}
	s.sent[xid] = request{kind}
	c = sent(kind, r)
	c.Call = uint64(uint32(xid)) | 1<<32
	return c, n, nil
}

// connects returns the request that begins or continues a session. It is changed to ask for a timeout of an hour.
func (s *session) connects(b []byte) stream.Sent {
	s.asked = true
	s.lasts = granted(int32(binary.BigEndian.Uint32(b[timeAskedAt:])))
	binary.BigEndian.PutUint32(b[timeAskedAt:], hour)
	return stream.Sent{
		Name: "connect", Replies: true, Passes: true, Call: connecting, Access: backend.OpenSession, Instead: b,
		Words: func(*stream.Names) string { return "connect" },
	}
}

// Reply parses the first reply of b, or the event of a watch.
func (s *session) Reply(b []byte) (r stream.Said, n, settles int, err error) {
	body, n, err := cutRecord(b)
	if err != nil || n == 0 {
		return r, 0, 0, err
	}
	if s.id == 0 {
		return s.begins(slices.Clone(b[:n])), n, 1, nil
	}
	s.sessions.hears(s.id)
	xid := body.int()
	body.long()
	code := body.int()
	if xid == watched {
		return event(body), n, 0, nil
	}
	kind := s.sent[xid].kind
	delete(s.sent, xid)
	if kind == closeSession && code == 0 {
		s.sessions.ended(s.id)
	}
	r = said(kind, code, body)
	r.Call = uint64(uint32(xid)) | 1<<32
	return r, n, 1, nil
}

// begins handles the answer to the request for a session.
func (s *session) begins(b []byte) stream.Said {
	r := stream.Said{Call: connecting, Words: func(*stream.Names) string { return "session expired" }, Result: backend.Absent}
	if len(b) < timeToldAt+4+8 || binary.BigEndian.Uint32(b[timeToldAt:]) == 0 {
		return r
	}
	binary.BigEndian.PutUint32(b[timeToldAt:], uint32(s.lasts))
	body := record{b[timeToldAt+4:]}
	s.id = body.long()
	s.sessions.begins(s.id, body.buffer(), s.lasts)
	return stream.Said{Call: connecting, Instead: b, Words: func(*stream.Names) string { return "connected" }}
}

// Greets reports whether the client has asked for a session that has not begun. Until it begins, the client sends nothing
// else.
func (s *session) Greets() bool { return s.id == 0 && s.asked }

// Listens reports whether the connection has a session: its client may watch something.
func (s *session) Listens() bool { return s.id != 0 }
