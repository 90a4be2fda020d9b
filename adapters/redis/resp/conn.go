package resp

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// Conn is a connection for lockproof's own commands to a server. It is safe for concurrent use.
type Conn struct {
	net.Conn

	mu    sync.Mutex
	buf   []byte
	limit time.Duration // maximum time for an answer
}

// On returns a Conn that uses an open connection. limit is the maximum time for an answer.
func On(conn net.Conn, limit time.Duration) *Conn { return &Conn{Conn: conn, limit: limit} }

// Do sends a command and returns the reply. It returns an error if the command could not be sent, or if the reply is
// an error.
func (c *Conn) Do(args ...string) (Value, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, err := c.exchange(args)
	if err != nil {
		return Value{}, err
	}
	return all[0], nil
}

// DoAll sends all commands at once, and reads their replies. It returns the first error: a command could not be sent,
// or a reply is an error.
func (c *Conn) DoAll(commands [][]string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.exchange(commands...)
	return err
}

// exchange sends commands together and reads their replies. mu is held.
func (c *Conn) exchange(commands ...[]string) (all []Value, err error) {
	var b strings.Builder
	for _, args := range commands {
		fmt.Fprintf(&b, "*%d\r\n", len(args))
		for _, a := range args {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
		}
	}
	_ = c.SetDeadline(time.Now().Add(c.limit))
	if _, err := c.Write([]byte(b.String())); err != nil {
		return nil, err
	}
	for len(all) < len(commands) {
		v, err := c.read()
		if err == nil && v.Kind == '-' {
			err = errors.New(string(v.Text))
		}
		if err != nil {
			return nil, fmt.Errorf("asking our redis-server %s: %w", commands[len(all)][0], err)
		}
		all = append(all, v)
	}
	return all, nil
}

// read reads one reply from the connection.
func (c *Conn) read() (Value, error) {
	b := make([]byte, 1<<14)
	for {
		v, n, err := Read(c.buf)
		if err != nil {
			return v, err
		}
		if n > 0 {
			v = v.Clone()
			c.buf = append(c.buf[:0], c.buf[n:]...)
			return v, nil
		}
		m, err := c.Read(b)
		if err != nil {
			return v, err
		}
		c.buf = append(c.buf, b[:m]...)
	}
}
