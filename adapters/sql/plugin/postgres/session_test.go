package postgres

import (
	"encoding/binary"
	"testing"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/internal/gatetest"
)

// message returns an encoded message. If kind is 0, it has no kind byte.
func message(kind byte, body string) string {
	b := sized(nil, []byte(body))
	if kind != 0 {
		b = append([]byte{kind}, b...)
	}
	return string(b)
}

// startup returns a client's first message.
func startup() string {
	return message(0, string(binary.BigEndian.AppendUint32(nil, version3<<versionBits))+"user\x00x\x00\x00")
}

// started returns a session that has begun, so that commands can follow.
func started(t *testing.T) *session {
	t.Helper()
	s := protocol{}.Session().(*session)
	if c, n, err := s.Command([]byte(startup())); !c.Passes || n == 0 || err != nil {
		t.Fatal(c, n, err)
	}
	if _, n, settles, err := s.Reply([]byte(message('R', "\x00\x00\x00\x00") + message('Z', "I"))); n == 0 || settles != 1 || err != nil {
		t.Fatal(n, settles, err)
	}
	return s
}

// TestPipeline: if a command ends with Flush, its reply ends with the answer to the command's last message. After an
// error, the commands up to Sync get no reply of their own.
func TestPipeline(t *testing.T) {
	s := started(t)
	batch := message('P', "\x00SELECT f($1)\x00\x00\x00") + message('B', "\x00\x00\x00\x00\x00\x01\x00\x00\x00\x011\x00\x00") + message('E', "\x00\x00\x00\x00\x00")
	for range 3 {
		c, n, err := s.Command([]byte(batch + message('H', "")))
		if n != len(batch)+5 || err != nil || !c.Replies || c.Passes || c.Words(stream.NewNames("")) != "SELECT f(1)" {
			t.Fatal(c, n, err)
		}
	}
	if c, n, err := s.Command([]byte(message('S', ""))); n != 5 || err != nil || !c.Replies {
		t.Fatal(c, n, err)
	}
	for _, r := range []struct {
		said    string
		settles int
	}{
		{message('A', "\x00\x00\x00\x00c\x00p\x00"), 0},
		{message('1', "") + message('2', "") + message('D', "\x00\x01\x00\x00\x00\x01t") + message('C', "SELECT 1\x00"), 1},
		{message('1', "") + message('E', "SERROR\x00C42000\x00Mno\x00\x00"), 1},
		{message('Z', "I"), 2},
		{message('E', "SFATAL\x00C57P01\x00Mno\x00\x00"), 0},
	} {
		for i := range len(r.said) {
			if _, n, _, err := s.Reply([]byte(r.said[:i])); i > 0 && n != 0 || err != nil {
				t.Fatalf("%q: %d, %v", r.said[:i], n, err)
			}
		}
		said, n, settles, err := s.Reply([]byte(r.said))
		if n != len(r.said) || settles != r.settles || err != nil {
			t.Errorf("%q: %d, %d, %v", r.said, n, settles, err)
		}
		_ = said.Words(stream.NewNames(""))
	}
}

// FuzzSession: no bytes from a client or a server make the parser panic or return a message longer than its input.
func FuzzSession(f *testing.F) {
	f.Add([]byte(startup()+message('Q', "SELECT 1\x00")+message('X', "")), []byte(message('R', "\x00\x00\x00\x00")+message('Z', "I")))
	f.Add([]byte(startup()+message('P', "a\x00SELECT $1\x00\x00\x00")+message('B', "\x00a\x00\x00\x00\x00\x01\x00\x00\x00\x011\x00\x00")+
		message('D', "P\x00")+message('E', "\x00\x00\x00\x00\x00")+message('H', "")+message('C', "Sa\x00")+message('S', "")),
		[]byte(message('Z', "I")+message('1', "")+message('2', "")+message('n', "")+message('E', "SERROR\x00C42000\x00Mno\x00\x00")+message('Z', "I")))
	f.Add([]byte("\x00\x00\x00\x08\x04\xd2\x16\x2f"), []byte("N"))
	f.Fuzz(func(t *testing.T, sent, said []byte) { gatetest.Feed(t, protocol{}.Session(), sent, said) })
}
