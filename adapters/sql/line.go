package databases

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/bound"
	"github.com/lockproof/lockproof/adapters/measure"
)

// line is the socket of a session, which can be cut. A cut line sends nothing more: it also refuses the new connection on
// which pgx asks the server to cancel the current statement.
type line struct {
	timed   bool            // the durations of commands are measured, so sessions use the server's own settings
	traffic measure.Traffic // counts what is sent and received
	mu      sync.Mutex
	conn    net.Conn
	cut     bool
}

// Limits of what a server may send. The time for an answer is long, since a session may wait for a lock while others
// take their steps. Rows are few and small.
var (
	granted  = bound.Limits{Connect: 10 * time.Second, Answer: time.Minute, Most: 64 << 20}
	sessions = bound.Limits{Connect: 10 * time.Second, Answer: 10 * time.Minute, Most: 64 << 20}
)

var errCut = errors.New("the connection was cut")

// dial connects to the server; the drivers call it.
func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return nil, errCut
	}
	conn, err := sessions.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.conn = conn
	return l.traffic.Over(conn), nil
}

// reset closes the socket abruptly, with a TCP reset.
func (l *line) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	if tcp, ok := l.conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = tcp.SetLinger(0) // an error means that the socket is closed already
	}
	if l.conn != nil {
		_ = l.conn.Close()
	}
}
