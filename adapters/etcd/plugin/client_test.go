package plugin_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
)

// client is an etcd client that speaks gRPC, without etcd's library.
type client struct {
	http.Client
	url string
}

func newClient(url string) *client {
	t := &http.Transport{Protocols: new(http.Protocols)}
	t.Protocols.SetUnencryptedHTTP2(true)
	return &client{http.Client{Transport: t}, url}
}

// pb is an encoded protocol buffers message, to which fields are appended.
type pb []byte

func (b pb) number(field int, v uint64) pb {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), v)
}

func (b pb) text(field int, v string) pb {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(v))), v...)
}

// framed returns a message with the prefix that gRPC puts before it.
func framed(m pb) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
}

// begin begins a call, and returns before its answer is complete.
func (c *client) begin(ctx context.Context, method string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/etcdserverpb."+method, body)
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
	return c.Do(r)
}

// call makes a call and returns the answer's message.
func (c *client) call(ctx context.Context, method string, m pb) ([]byte, error) {
	a, err := c.begin(ctx, method, bytes.NewReader(framed(m)))
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	if err != nil {
		return nil, err
	}
	if s := a.Trailer.Get("Grpc-Status") + a.Header.Get("Grpc-Status"); s != "0" || len(data) < 5 {
		return nil, fmt.Errorf("%s: status %q %s", method, s, a.Trailer.Get("Grpc-Message")+a.Header.Get("Grpc-Message"))
	}
	return data[5:], nil
}

// number returns the value of a numeric field; 0 if the message does not have it. It skips texts and does not descend
// into nested messages.
func number(b []byte, field int) (v uint64) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		value, m := binary.Uvarint(b[n:])
		b = b[n+m:]
		if tag&7 == 2 {
			b = b[value:]
		} else if tag>>3 == uint64(field) {
			v = value
		}
	}
	return v
}

// next reads the next message of a streaming call.
func next(from io.Reader) ([]byte, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	m := make([]byte, binary.BigEndian.Uint32(head[1:]))
	_, err := io.ReadFull(from, m)
	return m, err
}
