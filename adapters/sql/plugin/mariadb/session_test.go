package mariadb

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/gate/stream"
)

// packet returns an encoded packet with the given body.
func packet(body string) string {
	return string([]byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), 0}) + body
}

// hello returns the greeting of a server with the given capabilities.
func hello(can uint64) string {
	b := binary.LittleEndian.AppendUint16([]byte("\x0a10.11\x00"+strings.Repeat("s", 13)), uint16(can))
	b = binary.LittleEndian.AppendUint16(append(b, "\x2d\x02\x00"...), uint16(can>>16))
	b = binary.LittleEndian.AppendUint32(append(b, strings.Repeat("\x00", 7)...), uint32(can>>32))
	return packet(string(b))
}

// answer returns a client's answer to the greeting, with the given capabilities.
func answer(can uint64) string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(can))
	b = binary.LittleEndian.AppendUint32(append(b, strings.Repeat("\x00", 24)...), uint32(can>>32))
	return packet(string(b) + "root\x00\x00")
}

const (
	okay   = "\x00\x00\x00\x02\x00"
	more   = "\x00\x01\x00\x0a\x00"
	ended  = "\xfe\x00\x00\x02\x00"
	column = "\x03def\x00\x00\x00\x01c\x00\x0c\x3f\x00\x0b\x00\x00\x00\x03\x00\x00\x00\x00\x00"
	broken = "\xff\xb5\x04#HY000no"
)

// TestReplies: the parser finds the end of a reply, for each combination of capabilities.
func TestReplies(t *testing.T) {
	execute := "\x17\x07\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x08\x00\x05\x00\x00\x00\x00\x00\x00\x00"
	prepared := "\x00\x07\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00"
	for _, c := range []struct {
		can        uint64
		sent, said []string
		words      []string
	}{
		{0, []string{"\x03SELECT 5"}, []string{packet("\x01") + packet(column) + packet(ended) + packet("\x015") + packet(ended)}, []string{"[5]"}},
		{noEOF, []string{"\x03SELECT 5"}, []string{packet("\x01") + packet(column) + packet("\x015") + packet("\xfe\x00\x00\x02\x00\x00\x00")}, []string{"[5]"}},
		{0, []string{"\x03DELETE FROM t; DELETE FROM u"}, []string{packet(more) + packet(okay)}, []string{"OK, 0 rows"}},
		{0, []string{"\x03SELECT x"}, []string{packet(broken)}, []string{"error 1205 lock wait timeout"}},
		{keepsColumns, []string{"\x16SELECT ?", execute},
			[]string{packet(prepared) + packet(column) + packet(ended) + packet(column) + packet(ended), packet("\x01\x00") + packet(ended) + packet("\x00\x00\x05\x00\x00\x00") + packet(ended)},
			[]string{"OK, 0 rows", "[5]"}},
	} {
		s := protocol{}.Session()
		hear := func(said, words string, settles int) {
			t.Helper()
			for i := range len(said) {
				if _, n, _, err := s.Reply([]byte(said[:i])); n != 0 || err != nil {
					t.Fatalf("%q: %d, %v", said[:i], n, err)
				}
			}
			r, n, m, err := s.Reply([]byte(said))
			if n != len(said) || m != settles || err != nil || r.Words(stream.NewNames("")) != words {
				t.Fatalf("%q: %d, %d, %v, %s", said, n, m, err, r.Words(stream.NewNames("")))
			}
		}
		say := func(sent string) {
			t.Helper()
			if _, n, err := s.Command([]byte(sent)); n != len(sent) || err != nil {
				t.Fatal(n, err)
			}
		}
		hear(hello(c.can), "greeting", 0)
		say(answer(c.can))
		hear(packet(okay), "OK, 0 rows", 1)
		for i := range c.sent {
			say(packet(c.sent[i]))
			hear(c.said[i], c.words[i], 1)
		}
	}
}

// FuzzSession: no bytes from a client or a server make the parser panic or return a message longer than its input.
func FuzzSession(f *testing.F) {
	f.Add(uint64(0), []byte(packet("\x03SELECT 5")+packet("\x0e")+packet("\x01")), []byte(packet("\x01")+packet(column)+packet(ended)+packet("\x015")+packet(ended)+packet(okay)))
	f.Add(uint64(noEOF|keepsColumns), []byte(packet("\x16SELECT ?")+packet("\x19\x01\x00\x00\x00")), []byte(packet("\x00\x07\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00")+packet(column)+packet(column)))
	f.Fuzz(func(t *testing.T, can uint64, sent, said []byte) {
		s := protocol{}.Session()
		names := stream.NewNames("part")
		reply := func() bool {
			if len(said) == 0 {
				return false
			}
			r, n, _, err := s.Reply(said)
			if err != nil || n == 0 {
				return false
			}
			_ = r.Words(names)
			said = said[n:]
			return true
		}
		_, _, _, _ = s.Reply([]byte(hello(can)))
		_, _, _ = s.Command([]byte(answer(can)))
		_, _, _, _ = s.Reply([]byte(packet(okay)))
		for len(sent) > 0 {
			c, n, err := s.Command(sent)
			if err != nil || n == 0 {
				break
			}
			_ = c.Words(names)
			sent = sent[n:]
			reply()
		}
		for reply() {
		}
	})
}
