package process

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/clock"
)

// Watched is a server whose state is visible from outside: it is at rest when all its threads sleep. It implements
// [github.com/lockproof/lockproof/adapters/gate/stream.Upstream].
type Watched struct {
	*Process
	name    string // server's name in error messages
	threads *clock.Threads

	mu    sync.Mutex
	conns map[int64]net.Conn // connections of clients, by their local ports
}

// AnswerLimit is the maximum time for a server to answer, and to come to rest.
const AnswerLimit = 20 * time.Second

// restPause is the time between two checks whether the server is at rest.
const restPause = 100 * time.Microsecond

// NewWatched prepares a server. name is its name in errors; kind is the kind of server.
func NewWatched(name, kind string) (*Watched, error) {
	p, err := New(kind, "")
	if err != nil {
		return nil, err
	}
	return &Watched{Process: p, name: name, conns: make(map[int64]net.Conn)}, nil
}

// Watch begins to watch the threads of the started process.
func (w *Watched) Watch() (err error) {
	w.threads, err = clock.NewThreads(w.ID())
	return err
}

// Dial opens a connection to the server. The connection's number is its local port.
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

// Waits reports whether the server is at rest. If a command then has no reply, it waits for another client or for
// time to pass.
func (w *Watched) Waits(int64) (bool, error) { return w.threads.Rest(), nil }

// Barrier returns when the server is at rest: all its threads sleep, so it has sent everything that it had to send.
func (w *Watched) Barrier() error {
	for end := time.Now().Add(AnswerLimit); !w.threads.Rest(); time.Sleep(restPause) {
		if time.Now().After(end) {
			return fmt.Errorf("our %s does not come to rest", w.name)
		}
	}
	return nil
}

// Kill closes a connection. No command is on its way then, since each has taken effect when it has passed the gate.
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

// Remove stops the server and removes its files.
func (w *Watched) Remove() error {
	if w.threads != nil {
		w.threads.Close()
	}
	return w.Process.Remove()
}
