package plugin

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/process"
)

// control is a client that lockproof itself uses.
type control struct {
	mu    sync.Mutex
	conn  net.Conn
	count int32
}

// errExpired is the error if a session does not exist any more.
var errExpired = errors.New("our ZooKeeper has no such session")

// connect connects to the server, with a new session that lasts an hour. If id is not 0, it continues the existing
// session with that number.
func connect(port int, id int64, password []byte) (_ *control, err error) {
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), process.AnswerLimit)
	if err != nil {
		return nil, err
	}
	c := &control{conn: conn}
	if len(password) == 0 {
		password = make([]byte, 16)
	}
	ask := appendBuffer(appendLong(appendInt(appendLong(appendInt(nil, 0), 0), hour), id), password)
	r, err := c.exchange(append(ask, 0))
	if err == nil {
		if r.int(); r.int() == 0 {
			err = errExpired
		}
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// exchange sends a record, and reads the next one.
func (c *control) exchange(b []byte) (*record, error) {
	if err := c.conn.SetDeadline(time.Now().Add(process.AnswerLimit)); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(framed(b)); err != nil {
		return nil, err
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(c.conn, head); err != nil {
		return nil, err
	}
	size := (&record{head}).int()
	if size < 0 || size > mostRecord {
		return nil, errNotZooKeeper
	}
	body := make([]byte, size)
	_, err := io.ReadFull(c.conn, body)
	return &record{body}, err
}

// do carries out a request. code is the error code of the server's reply.
func (c *control) do(kind int32, body []byte) (r *record, code int32, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	r, err = c.exchange(append(appendInt(appendInt(nil, c.count), kind), body...))
	if err != nil {
		return nil, 0, fmt.Errorf("asking our ZooKeeper: %w", err)
	}
	r.int()
	r.long()
	return r, r.int(), nil
}

// node is a node with the number of the session that owns it, 0 for none.
type node struct {
	path  string
	owner int64
}

// nodes returns all nodes except ZooKeeper's own, parents first.
func (c *control) nodes() (all []node, err error) {
	paths := []string{"/"}
	for i := 0; i < len(paths); i++ {
		path := paths[i]
		r, code, err := c.do(getChildren2, append(appendBuffer(nil, []byte(path)), 0))
		if err != nil {
			return nil, err
		}
		if code != 0 { // the node was deleted meanwhile
			continue
		}
		prefix := path
		if path != "/" {
			prefix += "/"
		}
		for n := r.int(); n > 0 && len(r.b) > 0; n-- {
			if child := prefix + r.text(); child != "/zookeeper" {
				paths = append(paths, child)
			}
		}
		r.take(44) // the beginning of the node's state: five numbers of eight bytes, one of four bytes, and two more of
		if path != "/" {
			all = append(all, node{path, r.long()})
		}
	}
	return all, nil
}

// remove deletes the node with the given path.
func (c *control) remove(path string) error {
	_, _, err := c.do(deleteNode, appendInt(appendBuffer(nil, []byte(path)), -1))
	return err
}

// close ends the session, and closes the connection.
func (c *control) close() error {
	_, _, err := c.do(closeSession, nil)
	return errors.Join(err, c.conn.Close())
}
