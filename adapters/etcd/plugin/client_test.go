package plugin_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
)

// client speaks gRPC to an etcd.
type client struct {
	http.Client
	url string
}

func newClient(url string) *client {
	t := &http.Transport{Protocols: new(http.Protocols)}
	t.Protocols.SetUnencryptedHTTP2(true)
	return &client{http.Client{Transport: t}, url}
}

// pb is a message of protocol buffers that is being written.
type pb []byte

func (b pb) number(field int, v uint64) pb {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), v)
}

func (b pb) text(field int, v string) pb {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(v))), v...)
}

// framed is a message as gRPC sends it.
func framed(m pb) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
}

// begin begins a call.
func (c *client) begin(ctx context.Context, method string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/etcdserverpb."+method, body)
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
	return c.Do(r)
}

// call has a call carried out, and gives the answer.
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

// number is a number in a message, 0 where there is none; of the messages in it only those of a depth of one are read.
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

// next is the next message of a call whose answers come one by one.
func next(from io.Reader) ([]byte, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	m := make([]byte, binary.BigEndian.Uint32(head[1:]))
	_, err := io.ReadFull(from, m)
	return m, err
}
