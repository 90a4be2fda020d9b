package plugin

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/process"
)

// Control is lockproof's own connection to a server, as the server's administrator. Query is safe for concurrent use.
type Control struct {
	Conn   net.Conn
	Reader *bufio.Reader

	kind *Kind
	mu   sync.Mutex
}

// dial opens a TCP connection to a port of this machine.
func dial(port int) (net.Conn, error) {
	return net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), process.AnswerLimit)
}

// connect opens lockproof's own connection to a server at a port of this machine.
func (k *Kind) connect(port int) (*Control, error) {
	conn, err := dial(port)
	if err != nil {
		return nil, err
	}
	c := &Control{Conn: conn, Reader: bufio.NewReader(conn), kind: k}
	_ = conn.SetDeadline(time.Now().Add(process.AnswerLimit))
	if err := k.Greet(c); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// Query carries out a statement, and returns the rows of its result as text.
func (c *Control) Query(sql string) ([][]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.Conn.SetDeadline(time.Now().Add(process.AnswerLimit))
	if err := c.kind.Ask(c, sql); err != nil {
		return nil, err
	}
	rows, err := c.kind.Answer(c)
	if err != nil {
		err = fmt.Errorf("asking our %s server %s: %w", c.kind.Name, sql, err)
	}
	return rows, err
}
