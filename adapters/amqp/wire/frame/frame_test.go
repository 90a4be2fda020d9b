package frame

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// table is a field table with one field of each type.
var table = Table{}.
	With("void", nil).With("bool", true).With("i8", int8(-8)).With("u8", uint8(8)).With("i16", int16(-16)).
	With("u16", uint16(16)).With("i32", int32(-32)).With("u32", uint32(32)).With("i64", int64(-64)).
	With("f32", float32(1.5)).With("f64", -2.5).With("decimal", Decimal{2, -314}).With("time", Timestamp(1<<40)).
	With("text", "x").With("bytes", []byte{0, 1}).With("table", Table{}.With("in", "it")).
	With("array", Array{}.With("a").With(int32(1)).With(Array{}))

var methods = []Method{
	&ConnectionStart{VersionMinor: 9, ServerProperties: table, Mechanisms: "PLAIN AMQPLAIN", Locales: "en_US"},
	&ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072, Heartbeat: 60},
	&ConnectionOpen{VirtualHost: "/"},
	&ChannelOpenOk{},
	&ChannelClose{ReplyCode: 405, ReplyText: "RESOURCE_LOCKED - …", ClassID: 50, MethodID: 10},
	&QueueDeclare{Queue: "q", Durable: true, AutoDelete: true, NoWait: true, Arguments: table},
	&QueueDeclareOk{Queue: "q", MessageCount: 1 << 31, ConsumerCount: 7},
	&BasicPublish{RoutingKey: "q", Mandatory: true},
	&BasicNack{DeliveryTag: 1 << 60, Multiple: true, Requeue: true},
	&BasicGetEmpty{},
	&TxSelect{},
}

var header = ContentHeader{Class: ContentClass, Size: 1 << 40, Properties: Properties{
	Has: HasContentType | HasHeaders | HasDeliveryMode | HasExpiration | HasTimestamp | HasReserved, ContentType: "text/plain",
	Headers: table, DeliveryMode: 2, Expiration: "1000", Timestamp: 1e9, Reserved: "r",
}}

// Each kind of frame reads back unchanged after it is written.
func TestRoundTrip(t *testing.T) {
	var stream []byte
	for _, m := range methods {
		stream = AppendMethod(stream, 7, m)
	}
	stream = AppendHeartbeat(AppendHeader(stream, 7, &header))
	stream = Frame{Type: FrameBody, Channel: 7, Payload: []byte("body")}.Append(stream)
	r := NewReader(iotest.OneByteReader(bytes.NewReader(stream)), 0)
	next := func() []byte {
		f, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		return f.Payload
	}
	for _, want := range methods {
		if got, err := ReadMethod(next()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%#v %v, expected %#v", got, err, want)
		}
	}
	if got, err := ReadHeader(next()); err != nil || !reflect.DeepEqual(got, header) {
		t.Errorf("%#v %v, expected %#v", got, err, header)
	}
	next()
	if got := next(); string(got) != "body" {
		t.Errorf("body %q", got)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("%v at the end", err)
	}
}

// A table returns the values that were put in.
func TestTable(t *testing.T) {
	if v, ok := table.Lookup("decimal"); !ok || v != (Decimal{2, -314}) {
		t.Errorf("decimal %v %v", v, ok)
	}
	if _, ok := table.Lookup("missing"); ok {
		t.Error("a field that is not there was found")
	}
	copied := Table{}
	for name, value := range table.All() {
		copied = copied.With(name, value)
	}
	if !bytes.Equal(copied, table) {
		t.Errorf("%q, expected %q", copied, table)
	}
}

// nested is a method whose argument is a table nested depth times.
func nested(depth int) []byte {
	inner := Table{}
	for range depth {
		inner = Table{}.With("t", inner)
	}
	return payload(&QueueDeclare{Arguments: inner})
}

// payload is an encoded method without the frame around it.
func payload(m Method) []byte {
	b := AppendMethod(nil, 1, m)
	return b[headSize : len(b)-1]
}

// Reading an invalid method returns an error with the reply code for the peer.
func TestBadMethods(t *testing.T) {
	whole := payload(&QueueDeclare{Queue: "q", Arguments: table})
	if _, err := ReadMethod(nested(MaxDepth)); err != nil {
		t.Errorf("%d tables in one another: %v", MaxDepth, err)
	}
	for _, test := range []struct {
		name    string
		payload []byte
		code    Code
	}{
		{"nothing", nil, FrameError},
		{"no such method", []byte{0, 50, 0, 99}, CommandInvalid},
		{"too deep", nested(MaxDepth + 1), SyntaxError},
		{"more than the arguments", append(bytes.Clone(whole), 0), SyntaxError},
		{"a table longer than the frame", append(bytes.Clone(payload(&QueueDeclare{}))[:8], 0xff, 0xff, 0xff, 0xff), SyntaxError},
		{"an unknown type in a table", payload(&QueueDeclare{Arguments: Table("\x01a?")}), SyntaxError},
	} {
		_, err := ReadMethod(test.payload)
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != test.code {
			t.Errorf("%s: %v, expected %v", test.name, err, test.code)
		}
	}
	for n := range whole {
		if _, err := ReadMethod(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken for a method", n, len(whole))
		}
	}
}

// Reading a frame allocates memory only as its bytes arrive. A frame that is too long or ends wrongly is an error at
// once.
func TestBadFrames(t *testing.T) {
	for _, test := range []struct {
		name  string
		bytes string
		err   string
	}{
		{"too long", "\x01\x00\x01\xff\xff\xff\xff", "more than the 4088 agreed on"},
		{"unknown type", "\x07\x00\x01\x00\x00\x00\x00\xce", "frame type 7"},
		{"wrong end", "\x01\x00\x01\x00\x00\x00\x01xy", "ends with 121, expected 206"},
		{"heartbeat with bytes", "\x08\x00\x00\x00\x00\x00\x01x\xce", "heartbeat on channel 0 with 1 bytes"},
		{"cut in the head", "\x01\x00", "unexpected EOF"},
		{"cut in the payload", "\x01\x00\x01\x00\x00\x00\x09abc", "unexpected EOF"},
	} {
		_, err := NewReader(strings.NewReader(test.bytes), 0).Next()
		if err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, expected %q", test.name, err, test.err)
		}
	}
	r := NewReader(strings.NewReader("\x03\x00\x01\x3f\xff\xff\xff"), 1<<31)
	if _, err := r.Next(); err != io.ErrUnexpectedEOF || cap(r.buf) > 2*step {
		t.Errorf("%v, %d bytes made for a frame that did not come", err, cap(r.buf))
	}
}

// Content is split into body frames of at most the negotiated size.
func TestContentFrames(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 1000)
	b := AppendContent(nil, 3, &Content{Body: body}, FrameMinSize)
	r := NewReader(bytes.NewReader(b), FrameMinSize)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	var got []byte
	frames := 0
	for {
		f, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got, frames = append(got, f.Payload...), frames+1
	}
	if !bytes.Equal(got, body) || frames != 3 {
		t.Errorf("%d bytes in %d frames", len(got), frames)
	}
}

// Every method of the protocol definition has a name, an index and a struct.
func TestIDs(t *testing.T) {
	for i, id := range IDs {
		m := blank(id)
		if m.ID() != id || id.Index() != i || MethodID(id.Class(), id.Method()) != id || !id.FromClient() && !id.FromServer() {
			t.Errorf("%v: index %d, struct %T", id, id.Index(), m)
		}
	}
	if !BasicRecoverID.IsSync() || BasicAckID.IsSync() || QueueDeclareOkID.IsSync() || !BasicPublishID.HasContent() {
		t.Error("what is answered, or carries content, is not known")
	}
	if Code(405).String() != "405 RESOURCE_LOCKED" || Code(405).Hard() || !Code(504).Hard() {
		t.Error("405 is a soft error, 504 a hard one")
	}
}
