package plugin

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2/hpack"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/model/backend"
)

// written returns an encoded HTTP/2 frame.
func written(kind, flags byte, id uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(b, id), payload...)
}

// block returns an encoded block of headers, given as names and values in turn.
func block(e *hpack.Encoder, to *bytes.Buffer, pairs ...string) []byte {
	to.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return bytes.Clone(to.Bytes())
}

// part returns an encoded field that contains a text.
func part(number byte, text string) string {
	return string([]byte{number<<3 | 2, byte(len(text))}) + text
}

// framed returns a message with the prefix that gRPC puts before it.
func framed(m string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
}

// talk returns an example dialogue in pieces: what a client sends for a transaction and a watch, and what the server
// answers.
func talk() (asked, told [][]byte) {
	var to bytes.Buffer
	e := hpack.NewEncoder(&to)
	txn := part(1, "\x10\x01"+part(3, "jobs")) + part(2, part(2, part(1, "jobs")+"\x18\x07")) + part(3, part(1, part(1, "jobs")))
	asked = [][]byte{
		[]byte(preface), written(4, 0, 0, nil),
		written(frameHeaders, endsHeaders, 1, block(e, &to, ":method", "POST", ":path", "/etcdserverpb.KV/Txn")),
		written(8, 0, 1, []byte{0, 0, 0, 5}),
		written(frameData, 0, 1, framed(txn)), written(frameData, endsStream, 1, nil),
		written(frameHeaders, 0, 3, block(e, &to, ":method", "POST", ":path", "/etcdserverpb.Watch/Watch")),
		written(frameContinuation, endsHeaders, 3, nil),
		written(frameData, isPadded, 3, append(append([]byte{2}, framed(part(1, part(1, "jobs")))...), 0, 0)),
		written(frameReset, 0, 3, make([]byte, 4)),
	}
	d := hpack.NewEncoder(&to)
	told = [][]byte{
		written(4, 0, 0, nil), written(frameHeaders, endsHeaders, 1, block(d, &to, ":status", "200")),
		written(frameData, 0, 1, framed("\x10\x01")), written(6, 0, 0, make([]byte, 8)),
		written(frameHeaders, endsHeaders|endsStream, 1, block(d, &to, "grpc-status", "0")),
		written(frameHeaders, endsHeaders, 3, block(d, &to, ":status", "200")), written(frameData, 0, 3, framed("\x18\x01")),
		written(frameData, 0, 3, framed(part(11, "\x08\x01"+part(2, part(1, "jobs"))))),
	}
	return asked, told
}

// TestSession: each message is a command, and each answer ends with a message or a call. This holds even if the bytes
// arrive in arbitrary pieces.
func TestSession(t *testing.T) {
	asked, told := talk()
	s, names := protocol{newLeases()}.Session(), stream.NewNames("")
	var commands []string
	all := bytes.Join(asked[:9], nil)
	for from, to := 0, 1; to <= len(all); to++ {
		c, n, err := s.Command(all[from:to])
		if err != nil {
			t.Fatal(err)
		}
		if from += n; n > 0 && !c.Aside {
			commands = append(commands, c.Words(names))
		}
	}
	want := []string{"Txn if jobs created=0 then Put jobs lease value1 else Range jobs", "Watch jobs"}
	if strings.Join(commands, "|") != strings.Join(want, "|") {
		t.Errorf("%q", commands)
	}
	var said []string
	var settled int
	all = bytes.Join(told, nil)
	for from, to := 0, 1; to <= len(all); to++ {
		r, n, settles, err := s.Reply(all[from:to])
		if err != nil {
			t.Fatal(err)
		}
		if from += n; n > 0 && !r.Aside {
			said = append(said, r.Words(names))
			settled += min(settles, 1)
		}
	}
	if strings.Join(said, "|") != "then|watches|watch: deleted jobs" || settled != 2 || !s.Listens() {
		t.Errorf("%q, %d, %v", said, settled, s.Listens())
	}
	c, n, err := s.Command(asked[9])
	if err != nil || n == 0 || !c.Passes || c.Cancels != 3 || s.Listens() {
		t.Errorf("%+v, %d, %v", c, n, err)
	}
}

// TestAccess: the access of a command, such as a read, follows from its message.
func TestAccess(t *testing.T) {
	for method, want := range map[string]backend.Access{
		rangeMethod: backend.Read, putMethod: backend.Create, deletes: backend.Delete, grantMethod: backend.OpenSession, revokes: backend.CloseSession,
		"KV/Compact": backend.Opaque, "Cluster/MemberList": backend.Read,
	} {
		c := sent(&call{method: method, request: []byte(part(1, "jobs/12"))}, 1, newLeases())
		if c.Access != want || c.MayChange == (want == backend.Read) {
			t.Errorf("%s: %+v", method, c)
		}
	}
}

// TestNotHTTP2: bytes that are not HTTP/2 are refused at once.
func TestNotHTTP2(t *testing.T) {
	for _, b := range []string{"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", preface + "\xff\xff\xff\x00\x00\x00\x00\x00\x01"} {
		s := protocol{newLeases()}.Session()
		_, n, err := s.Command([]byte(b))
		if err == nil {
			_, _, err = s.Command([]byte(b[n:]))
		}
		if err == nil {
			t.Errorf("%.20q is taken for HTTP/2", b)
		}
	}
}

// TestVersions: an etcd that is too old is refused with an error of one line.
func TestVersions(t *testing.T) {
	for version, good := range map[string]bool{"3.4.23": true, "3.10.0": true, "4.0.0": true, "3.3.25": false, "2.3.8": false, "": false, "x.y": false} {
		if err := fits(version); (err == nil) != good || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// FuzzSession: no bytes from a client or a server make the parser panic or return a message longer than its input.
func FuzzSession(f *testing.F) {
	asked, told := talk()
	f.Add(bytes.Join(asked, nil), bytes.Join(told, nil))
	f.Fuzz(func(t *testing.T, sent, said []byte) { gatetest.Feed(t, protocol{newLeases()}.Session(), sent, said) })
}

// FuzzFields: no bytes make the parser of protocol buffers panic or return a field longer than its input.
func FuzzFields(f *testing.F) {
	f.Add([]byte(part(1, "jobs") + "\x18\x07"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, one := range fields(b) {
			if len(one.bytes) > len(b) {
				t.Fatal(one)
			}
		}
	})
}

// TestKept: if etcd no longer has a lease, kept returns true only if the lease's duration has passed in real time. Only
// then may etcd's own clock have ended the lease.
func TestKept(t *testing.T) {
	l := newLeases()
	for id, lasts := range []uint64{0, 60, 1 << 60} {
		l.grants(int64(id), lasts)
		if late := l.kept(int64(id), false, time.Now()); late != (lasts == 0) {
			t.Error(lasts, late)
		}
	}
	if l.grants(7, 60); l.kept(7, true, time.Now()) || len(l.all()) != 1 {
		t.Error("a lease that is there is taken for one that has ended")
	}
}
