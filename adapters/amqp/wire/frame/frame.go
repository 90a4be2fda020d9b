package frame

import "encoding/binary"

// ProtocolHeader is what a client sends before the first frame.
var ProtocolHeader = [8]byte{'A', 'M', 'Q', 'P', 0, 0, 9, 1}

// OldHeader is the header of clients that request version 0-9. RabbitMQ, and such clients, treat it like 0-9-1. Examples are
// aioamqp 0.15 and Perl's Net::AMQP.
var OldHeader = [8]byte{'A', 'M', 'Q', 'P', 1, 1, 0, 9}

// Overhead is the number of bytes of a frame in addition to its payload. frame-max includes them.
const Overhead = headSize + 1

const headSize = 7

// Frame is an AMQP frame, with its payload still encoded.
type Frame struct {
	Type    uint8 // FrameMethod, FrameHeader, FrameBody or FrameHeartbeat
	Channel uint16
	Payload []byte
}

// Append appends the frame in its encoded form.
func (f Frame) Append(b []byte) []byte {
	start := len(b)
	b = append(appendHead(b, f.Type, f.Channel), f.Payload...)
	return finish(b, start)
}

// appendHead appends a frame's head with an empty size, which finish fills in.
func appendHead(b []byte, kind uint8, channel uint16) []byte {
	return append(b, kind, byte(channel>>8), byte(channel), 0, 0, 0, 0)
}

// finish ends the frame that begins at b[start]: it fills in the payload's size and appends the end octet.
func finish(b []byte, start int) []byte {
	binary.BigEndian.PutUint32(b[start+3:], uint32(len(b)-start-headSize))
	return append(b, FrameEnd)
}

// AppendHeartbeat appends a heartbeat frame.
func AppendHeartbeat(b []byte) []byte { return finish(appendHead(b, FrameHeartbeat, 0), len(b)) }
