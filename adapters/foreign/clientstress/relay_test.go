package clientstress

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// speaker is a broker that sends each client some frames. It closes the connection when end is closed.
func speaker(t *testing.T, frames []byte, end <-chan struct{}) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write(frames)
			go func() {
				<-end
				_ = conn.Close()
			}()
		}
	}()
	return "amqp://" + listener.Addr().String() + "/%2F"
}

func method(channel uint16, m frame.Method) []byte { return frame.AppendMethod(nil, channel, m) }

// A relay forwards what the broker sends, and reports unasked messages once. It does not report a connection that it
// has cut itself.
func TestRelay(t *testing.T) {
	for name, c := range map[string]struct {
		frames []byte
		ends   bool // whether the broker closes the connection
		asked  bool // whether the client closes the connection
		want   string
	}{
		"closed":     {frames: method(0, &frame.ConnectionClose{ReplyCode: 320, ReplyText: "x"}), ends: true, want: "connection.close 320 CONNECTION_FORCED"},
		"cancelled":  {frames: method(1, &frame.BasicCancel{ConsumerTag: "holder"}), want: "basic.cancel"},
		"cut":        {ends: true, want: "the broker closed the connection"},
		"left":       {asked: true, want: "the client closed the connection"},
		"in silence": {frames: method(1, &frame.BasicQosOk{})},
	} {
		end := make(chan struct{})
		url := speaker(t, c.frames, end)
		notices := make(chan notice, 5)
		r, err := newRelay(url, func(n notice) { notices <- n })
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", r.acceptor.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, len(c.frames))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.ends {
			close(end)
		}
		if c.asked {
			_ = conn.Close()
		}
		if c.want != "" {
			select {
			case n := <-notices:
				if n.how != c.want || n.asked != c.asked {
					t.Errorf("%s: told %+v, expected %q", name, n, c.want)
				}
			case <-time.After(time.Minute):
				t.Errorf("%s: told nothing", name)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		_ = conn.Close()
		if len(notices) > 0 {
			t.Errorf("%s: also told %+v", name, <-notices)
		}
	}
}
