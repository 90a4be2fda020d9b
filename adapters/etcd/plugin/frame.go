package plugin

import (
	"encoding/binary"
	"errors"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// preface is the first text that an HTTP/2 client sends (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// HTTP/2 frame types.
const (
	frameData         = 0
	frameHeaders      = 1
	frameReset        = 3
	frameContinuation = 9
)

// HTTP/2 frame flags.
const (
	endsStream  = 0x1
	endsHeaders = 0x4
	isPadded    = 0x8
	hasPriority = 0x20
)

const (
	frameHead = 9       // length of a frame's header in bytes
	mostFrame = 1 << 20 // maximum length of a frame in bytes; clients of etcd use at most 16384
)

// errNotHTTP2 is the error if bytes are not HTTP/2.
var errNotHTTP2 = errors.New("this is not gRPC over HTTP/2 without TLS, which clients of etcd speak")

// frame is one HTTP/2 frame.
type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

// readFrame parses the first frame of b. n is its length, 0 if it is incomplete.
func readFrame(b []byte) (f frame, n int, err error) {
	if len(b) < frameHead {
		return f, 0, nil
	}
	size := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
	if size > mostFrame {
		return f, 0, errNotHTTP2
	}
	if n = frameHead + size; len(b) < n {
		return f, 0, nil
	}
	f = frame{kind: b[3], flags: b[4], stream: binary.BigEndian.Uint32(b[5:]) &^ (1 << 31), payload: b[frameHead:n]}
	return f, n, f.unpad()
}

// unpad removes the padding and the priority from the frame's payload.
func (f *frame) unpad() error {
	padding, front := 0, 0
	if f.kind != frameData && f.kind != frameHeaders {
		return nil
	}
	if f.flags&isPadded != 0 && len(f.payload) > 0 {
		padding, front = int(f.payload[0]), 1
	}
	if f.kind == frameHeaders && f.flags&hasPriority != 0 {
		front += 5
	}
	if front+padding > len(f.payload) {
		return errNotHTTP2
	}
	f.payload = f.payload[front : len(f.payload)-padding]
	return nil
}

// readWhole is like readFrame, but joins a frame of headers with the frames that continue it.
func readWhole(b []byte) (f frame, n int, err error) {
	f, n, err = readFrame(b)
	if err != nil || n == 0 || f.kind != frameHeaders {
		return f, n, err
	}
	f.payload = f.payload[:len(f.payload):len(f.payload)]
	for last := f.flags; last&endsHeaders == 0; {
		more, m, err := readFrame(b[n:])
		if err != nil || m == 0 {
			return f, 0, err
		}
		if more.kind != frameContinuation || more.stream != f.stream {
			return f, 0, errNotHTTP2
		}
		f.payload, last = append(f.payload, more.payload...), more.flags
		if n += m; n > mostFrame {
			return f, 0, errNotHTTP2
		}
	}
	return f, n, nil
}

const (
	tableSize    = 4096    // default size in bytes of the HPACK table of remembered headers
	mostTable    = 1 << 16 // maximum size in bytes that a client or server may set for the HPACK table
	mostOfHeader = 1 << 16 // maximum length of a name or a value, in bytes
)

// headers decodes the headers of one direction of a connection.
type headers struct{ *hpack.Decoder }

func newHeaders() headers {
	d := hpack.NewDecoder(tableSize, nil)
	d.SetAllowedMaxDynamicTableSize(mostTable)
	d.SetMaxStringLength(mostOfHeader)
	return headers{d}
}

// read decodes a block of headers, and returns the value of the named one; "" if it is missing.
func (h headers) read(block []byte, name string) (value string, err error) {
	all, err := h.DecodeFull(block)
	if err != nil {
		return "", errNotHTTP2
	}
	for _, f := range all {
		if f.Name == name {
			value = strings.Clone(f.Value)
		}
	}
	return value, nil
}

const (
	messageHead = 5        // length in bytes of a gRPC prefix: a compression flag, and the message's length
	mostMessage = 15 << 20 // maximum length of a message in bytes; etcd accepts 2 MiB
)

// readMessage parses the first gRPC message of b. n is its length, 0 if it is incomplete.
func readMessage(b []byte) (message []byte, n int, err error) {
	if len(b) < messageHead {
		return nil, 0, nil
	}
	size := binary.BigEndian.Uint32(b[1:])
	if b[0] > 1 || size > mostMessage {
		return nil, 0, errNotHTTP2
	}
	if n = messageHead + int(size); len(b) < n {
		return nil, 0, nil
	}
	return b[messageHead:n], n, nil
}
