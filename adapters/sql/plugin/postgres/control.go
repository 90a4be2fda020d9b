package postgres

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// control is a connection of our own to the server, as its superuser. It is safe for concurrent use.
type control struct {
	mu     sync.Mutex
	conn   net.Conn
	reader *bufio.Reader
}

// answerLimit is how long the server may take for an answer.
const answerLimit = 20 * time.Second

// dial connects to a port of this machine.
func dial(port int) (net.Conn, error) {
	return net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), answerLimit)
}

// connect connects to a server of ours.
func connect(port int) (*control, error) {
	conn, err := dial(port)
	if err != nil {
		return nil, err
	}
	c := &control{conn: conn, reader: bufio.NewReader(conn)}
	if err := c.start(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// start says who we are.
func (c *control) start() error {
	body := binary.BigEndian.AppendUint32(nil, version3<<versionBits)
	for _, s := range []string{"user", superuser, "database", database, "search_path", "pg_catalog, public", ""} {
		body = append(append(body, s...), 0)
	}
	_ = c.conn.SetDeadline(time.Now().Add(answerLimit))
	if _, err := c.conn.Write(sized(nil, body)); err != nil {
		return err
	}
	_, err := c.answer()
	return err
}

// sized appends a body with its length before it.
func sized(b, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(body)+4)), body...)
}

// query carries out a statement, and returns the rows of its result as texts.
func (c *control) query(sql string) ([][]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.SetDeadline(time.Now().Add(answerLimit))
	if _, err := c.conn.Write(sized([]byte{'Q'}, append([]byte(sql), 0))); err != nil {
		return nil, err
	}
	rows, err := c.answer()
	if err != nil {
		err = fmt.Errorf("asking our PostgreSQL server %s: %w", sql, err)
	}
	return rows, err
}

// errPassword is the error of a server that asks for a password in a way that we do not know.
var errPassword = errors.New("it asks for another kind of password")

// answer reads messages until the server is ready for more.
func (c *control) answer() (rows [][]string, failed error) {
	for {
		kind, body, err := c.read()
		if err != nil {
			return nil, errors.Join(failed, err)
		}
		switch kind {
		case 'R':
			f := fields{rest: body}
			if f.take(2); f.int16() == 3 {
				_, err = c.conn.Write(sized([]byte{'p'}, append([]byte(password), 0)))
			} else if binary.BigEndian.Uint32(append(body, 0, 0, 0, 0)) != 0 {
				err = errPassword
			}
			if err != nil {
				return nil, err
			}
		case 'D':
			f := fields{rest: body}
			rows = append(rows, f.values())
		case 'E':
			failure := readFailure(body)
			failed = fmt.Errorf("%s (%s)", failure.message, failure.code)
		case 'Z':
			return rows, failed
		}
	}
}

// read reads a message.
func (c *control) read() (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(c.reader, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > longest {
		return 0, nil, errProtocol
	}
	body = make([]byte, size-4)
	_, err = io.ReadFull(c.reader, body)
	return head[0], body, err
}

// close ends it.
func (c *control) close() error { return c.conn.Close() }
