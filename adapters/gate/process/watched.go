package process

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/clock"
)

// Watched is a server of which nothing has to be asked: it is at rest when all its threads sleep. It is a
// [github.com/lockproof/lockproof/adapters/gate/stream.Upstream].
type Watched struct {
	*Process
	name    string // for errors
	threads *clock.Threads

	mu    sync.Mutex
	conns map[int64]net.Conn // of clients, by their ports
}

// AnswerLimit is how long a server may take for an answer, and to come to rest.
const AnswerLimit = 20 * time.Second

// restPause is how long to wait before it is looked again whether the server is at rest.
const restPause = 100 * time.Microsecond

// NewWatched prepares a server with a name, of a kind.
func NewWatched(name, kind string) (*Watched, error) {
	p, err := New(kind, "")
	if err != nil {
		return nil, err
	}
	return &Watched{Process: p, name: name, conns: make(map[int64]net.Conn)}, nil
}

// Watch begins to watch the threads, once the process has started.
func (w *Watched) Watch() (err error) {
	w.threads, err = clock.NewThreads(w.ID())
	return err
}

// Dial connects a client. The connection's number is its port.
func (w *Watched) Dial() (net.Conn, int64, error) {
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(w.Port), AnswerLimit)
	if err != nil {
		return nil, 0, err
	}
	port := int64(conn.LocalAddr().(*net.TCPAddr).Port)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[port] = conn
	return conn, port, nil
}

// Waits reports whether the server does nothing though a client has no answer: somebody else has to act first.
func (w *Watched) Waits(int64) (bool, error) { return w.threads.Rest(), nil }

// Barrier returns once the server is at rest: all its threads sleep, so that it has written all that it had to say.
func (w *Watched) Barrier() error {
	for end := time.Now().Add(AnswerLimit); !w.threads.Rest(); time.Sleep(restPause) {
		if time.Now().After(end) {
			return fmt.Errorf("our %s does not come to rest", w.name)
		}
	}
	return nil
}

// Kill ends a connection. Nothing of it is on its way: each command has taken effect when it has passed.
func (w *Watched) Kill(id int64) error {
	w.mu.Lock()
	conn := w.conns[id]
	delete(w.conns, id)
	w.mu.Unlock()
	if conn == nil {
		return nil
	}
	return conn.Close()
}

// Remove ends the server and removes its files.
func (w *Watched) Remove() error {
	if w.threads != nil {
		w.threads.Close()
	}
	return w.Process.Remove()
}
