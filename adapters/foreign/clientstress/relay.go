package clientstress

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// relay passes a client's connections on to the broker unchanged, and tells when one ends, and how the client could know.
type relay struct {
	listener net.Listener
	target   string
	told     func(notice)

	mu    sync.Mutex
	conns map[net.Conn]bool
	over  bool
	work  sync.WaitGroup
}

// notice is what the broker, or the network, has told a client unasked.
type notice struct {
	opened time.Time // when the connection was
	how    string    // such as "connection.close 320"
	// asked says that the client itself has ended the connection.
	asked bool
}

// maxRelayed is the largest frame that brokers send.
const maxRelayed = 4 << 20

// newRelay begins to pass on connections to a broker's address.
func newRelay(address string, told func(notice)) (*relay, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: listener, target: u.Host, told: told, conns: make(map[net.Conn]bool)}
	r.work.Go(r.accept)
	return r, nil
}

// URLFor is the address by which the client connects through the relay.
func (r *relay) URLFor(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.Host = r.listener.Addr().String()
	return u.String(), nil
}

func (r *relay) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.work.Go(func() { r.carry(conn) })
	}
}

// carry passes on one connection until either end has ended it.
func (r *relay) carry(client net.Conn) {
	defer r.forget(client)
	broker, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer r.forget(broker)
	if !r.keep(client) || !r.keep(broker) {
		return
	}
	n := notice{opened: time.Now()}
	ended := make(chan notice, 2)
	r.work.Go(func() {
		_, err := io.Copy(broker, client)
		_ = broker.(*net.TCPConn).CloseWrite()
		ended <- notice{n.opened, ending("the client", err), true}
	})
	r.work.Go(func() { ended <- r.back(broker, client, n) })
	first := <-ended
	r.tell(first)
	_ = client.Close()
	_ = broker.Close()
}

// back passes on what the broker sends, and says how it has ended that.
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

// tell tells of a notice that says something, unless the relay itself has cut the connection.
func (r *relay) tell(n notice) {
	r.mu.Lock()
	over := r.over
	r.mu.Unlock()
	if n.how != "" && !over {
		r.told(n)
	}
}

// spoken is what a frame tells a client unasked, "" for nothing. end says that the connection has ended with it.
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

// ending is how a connection has ended, in words.
func ending(who string, err error) string {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return who + " closed the connection"
	}
	return "the connection was reset"
}

func (r *relay) keep(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.conns[conn] = true
	}
	return !r.over
}

func (r *relay) forget(conn net.Conn) {
	_ = conn.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
}

// Close cuts all connections, and tells of none of these ends.
func (r *relay) Close() error {
	err := r.listener.Close()
	r.mu.Lock()
	r.over = true
	for conn := range r.conns {
		_ = conn.Close()
	}
	r.mu.Unlock()
	r.work.Wait()
	return err
}
