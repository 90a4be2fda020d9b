package plugin

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/backend"
)

// protocol is how clients of ZooKeeper talk to it.
type protocol struct{ sessions *sessions }

// Session begins a connection.
func (p protocol) Session() stream.Session {
	return &session{sessions: p.sessions, sent: make(map[int32]request)}
}

// session is a connection, which has one of ZooKeeper's sessions.
type session struct {
	sessions *sessions
	asked    bool  // for a session
	lasts    int32 // how long the client is told that the session lasts
	id       int64 // of the session; 0 while it has none
	sent     map[int32]request
}

// request is one that has no reply.
type request struct{ kind int32 }

const (
	mostRecord   = 4 << 20 // of a request or a reply; ZooKeeper takes 1 MiB
	mostRequests = 1 << 12 // without a reply
	hour         = 3_600_000
	// connecting is the number of the request that begins a session, beyond those of others.
	connecting = 1 << 40
	// timeAt is where the time is in a request and in the answer to it that begin a session, after the length.
	timeAskedAt, timeToldAt = 4 + 12, 4 + 4
)

// errNotZooKeeper is the error of what is no request of ZooKeeper's.
var errNotZooKeeper = errors.New("this is not ZooKeeper's protocol without TLS, which its clients speak")

// cutRecord cuts off a record: n bytes, and 0 while it is not whole.
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

// Command cuts off a request.
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

// connects is the request that begins a session, or goes on with one. It asks for an hour.
func (s *session) connects(b []byte) stream.Sent {
	s.asked = true
	s.lasts = granted(int32(binary.BigEndian.Uint32(b[timeAskedAt:])))
	binary.BigEndian.PutUint32(b[timeAskedAt:], hour)
	return stream.Sent{
		Name: "connect", Replies: true, Passes: true, Call: connecting, Access: backend.OpenSession, Instead: b,
		Words: func(*stream.Names) string { return "connect" },
	}
}

// Reply cuts off a reply, or what a watch tells.
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

// begins is the answer to the request for a session.
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

// Greets reports whether the session has yet to begin: before it has, the client sends nothing else.
func (s *session) Greets() bool { return s.id == 0 && s.asked }

// Listens is true: something may be watched.
func (s *session) Listens() bool { return s.id != 0 }
