package plugin

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// control is a connection of our own to the server. It is safe for concurrent use.
type control struct {
	mu   sync.Mutex
	conn net.Conn
	buf  []byte
}

// answerLimit is how long the server may take for an answer; a test has less of it.
var answerLimit = 20 * time.Second

// dial connects to a server of ours.
func dial(port int) (*control, error) {
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), answerLimit)
	if err != nil {
		return nil, err
	}
	return &control{conn: conn}, nil
}

// do carries out a command. The error is for one that could not be, or that the server refuses.
func (c *control) do(args ...string) (value, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, err := c.exchange(args)
	if err != nil {
		return value{}, err
	}
	return all[0], nil
}

// doAll carries out commands one after the other. The error is the first that could not be carried out, or that the server refuses.
func (c *control) doAll(commands [][]string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.exchange(commands...)
	return err
}

// exchange carries out commands that are sent at once. mu is held.
func (c *control) exchange(commands ...[]string) (all []value, err error) {
	var b strings.Builder
	for _, args := range commands {
		fmt.Fprintf(&b, "*%d\r\n", len(args))
		for _, a := range args {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
		}
	}
	_ = c.conn.SetDeadline(time.Now().Add(answerLimit))
	if _, err := c.conn.Write([]byte(b.String())); err != nil {
		return nil, err
	}
	for len(all) < len(commands) {
		v, err := c.read()
		if err == nil && v.kind == '-' {
			err = errors.New(string(v.text))
		}
		if err != nil {
			return nil, fmt.Errorf("asking our redis-server %s: %w", commands[len(all)][0], err)
		}
		all = append(all, v)
	}
	return all, nil
}

// read reads a reply.
func (c *control) read() (value, error) {
	b := make([]byte, 1<<14)
	for {
		v, n, err := readValue(c.buf)
		if err != nil {
			return v, err
		}
		if n > 0 {
			v = v.clone()
			c.buf = append(c.buf[:0], c.buf[n:]...)
			return v, nil
		}
		m, err := c.conn.Read(b)
		if err != nil {
			return v, err
		}
		c.buf = append(c.buf, b[:m]...)
	}
}

// close ends it.
func (c *control) close() error { return c.conn.Close() }
