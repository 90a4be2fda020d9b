package clientstress

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"github.com/lockproof/lockproof/adapters/acceptor"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// relay forwards a client's connections to the broker unchanged. When a connection ends, it reports what the client
// could notice.
type relay struct {
	acceptor *acceptor.Acceptor
	target   string
	told     func(notice)
}

// notice is something that a client could notice unasked, from the broker or the network.
type notice struct {
	opened time.Time // when the client opened the connection
	how    string    // what the client could notice, such as "connection.close 320"
	// asked says that the client itself has ended the connection.
	asked bool
}

// maxRelayed is the maximum size of a frame from the broker, in bytes.
const maxRelayed = 4 << 20

// newRelay starts a relay to the broker at address. It calls told with each notice.
func newRelay(address string, told func(notice)) (*relay, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	a, err := acceptor.Listen()
	if err != nil {
		return nil, err
	}
	r := &relay{acceptor: a, target: u.Host, told: told}
	a.Serve(r.carry)
	return r, nil
}

// URLFor returns the broker's address with the relay's host and port, for the client.
func (r *relay) URLFor(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.Host = r.acceptor.Addr().String()
	return u.String(), nil
}

// carry forwards one connection until the client or the broker ends it.
func (r *relay) carry(client net.Conn) {
	broker, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer r.acceptor.Forget(broker)
	if !r.acceptor.Keep(broker) {
		return
	}
	n := notice{opened: time.Now()}
	ended := make(chan notice, 2)
	r.acceptor.Go(func() {
		_, err := io.Copy(broker, client)
		_ = broker.(*net.TCPConn).CloseWrite()
		ended <- notice{n.opened, ending("the client", err), true}
	})
	r.acceptor.Go(func() { ended <- r.back(broker, client, n) })
	first := <-ended
	r.tell(first)
	_ = client.Close()
	_ = broker.Close()
}

// back forwards what the broker sends. It returns the notice n with how the broker's side has ended.
func (r *relay) back(broker, client net.Conn, n notice) notice {
	in := frame.NewReader(broker, maxRelayed)
	closed := false
	for {
		f, err := in.Next()
		if err != nil {
			if n.how = ending("the broker", err); closed {
				n.how = ""
			}
			return n
		}
		how, end := spoken(f)
		if _, err := client.Write(f.Append(nil)); err != nil {
			n.how, n.asked = "", true
			return n
		}
		if closed = closed || end; how != "" {
			r.tell(notice{n.opened, how, false})
		}
	}
}

// tell reports a notice. It does nothing if the notice is empty, or if the relay itself has cut the connection.
func (r *relay) tell(n notice) {
	if n.how != "" && !r.acceptor.Over() {
		r.told(n)
	}
}

// spoken describes what a frame tells a client unasked, such as "basic.cancel"; "" for other frames. end says that the
// frame ends the connection.
func spoken(f frame.Frame) (how string, end bool) {
	if f.Type != frame.FrameMethod {
		return "", false
	}
	m, err := frame.ReadMethod(f.Payload)
	if err != nil {
		return "", false
	}
	switch m := m.(type) {
	case *frame.ConnectionClose:
		return fmt.Sprintf("connection.close %s", frame.Code(m.ReplyCode)), true
	case *frame.ConnectionCloseOk:
		return "", true
	case *frame.BasicCancel:
		return "basic.cancel", false
	}
	return "", false
}

// ending describes how a connection has ended: who, the client or the broker, closed it or failed with err.
func ending(who string, err error) string {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return who + " closed the connection"
	}
	return "the connection was reset"
}

// Close cuts all connections, without reporting their ends.
func (r *relay) Close() error { return r.acceptor.Close() }
