package subprocess

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/lockproof/lockproof/histories/safetext"
)

// copyAll is [io.Copy] without its special methods for files, since these ignore deadlines.
func copyAll(to io.Writer, from io.Reader) (int64, error) {
	return io.Copy(to, struct{ io.Reader }{from})
}

// read reads what the program prints until it ends or breaks the protocol.
func (c *Client) read(printed io.Reader) {
	lines := newLineReader(printed)
	for {
		line, err := lines.next()
		if err == nil {
			err = c.take(line)
			if err == nil {
				continue
			}
		} else if !errors.Is(err, errFlood) {
			c.lost()
			return
		}
		c.settle(&ProtocolError{Why: err.Error()})
		return
	}
}

// take handles a line: it is the answer to the call under way, or a notification.
func (c *Client) take(line []byte) error {
	r, err := decode(line)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Method == lost {
		return c.losses.tell(r, c.waiting != nil)
	}
	id := string(bytes.TrimSpace(r.ID))
	switch {
	case (id == "null" || id == "") && r.Error != nil:
		return fmt.Errorf(`answered with %v and without the call's "id": expected "id":%d`, r.Error, c.number)
	case id == "" && c.waiting != nil:
		return fmt.Errorf(`answered %s, without the call's "id": expected "id":%d`, quoted(string(line)), c.number)
	case c.answered > 0 && id == strconv.Itoa(c.answered):
		return fmt.Errorf("answered call %d twice, the second time with %s", c.answered, quoted(string(line)))
	case c.waiting == nil:
		return fmt.Errorf("answered %s: expected nothing, because no call was under way", quoted(string(line)))
	case id != strconv.Itoa(c.number):
		return fmt.Errorf(`answered with "id":%s: expected "id":%d, that of the call under way (%s)`, safetext.Escape(id), c.number, c.last)
	}
	c.waiting <- r
	c.waiting, c.answered = nil, c.number
	return nil
}

// lost is called when nothing more can be read: the program has ended or soon will.
func (c *Client) lost() {
	ended := new(ExitError)
	if c.child.endsWithin(exitLimit) {
		ended.How = c.child.how
	} else {
		ended.How = "it closed its standard output, went on, and was killed"
	}
	c.settle(ended)
}

// settle kills the process, and records why the client gives no more answers. If Kill was called before, the reason
// is that.
func (c *Client) settle(reason error) {
	c.child.kill()
	<-c.child.ended
	c.readers.Wait()
	switch e := reason.(type) {
	case *ProtocolError:
		e.Why = c.secrets.Hide(e.Why)
		e.During, e.Stderr = c.during(), c.stderr.tail()
	case *ExitError:
		e.During, e.Stderr = c.during(), c.stderr.tail()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		reason = errKilled
	}
	c.exit = reason
	close(c.settled)
}

// during returns the name of the current call or, between calls, of the last one.
func (c *Client) during() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered == c.number {
		return c.name + ", after " + c.last
	}
	return c.name + ", " + c.last
}

// protocolError returns the error for a call with an invalid answer. The process runs on until it is closed.
func (c *Client) protocolError(why string) *ProtocolError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &ProtocolError{During: c.name + ", " + c.last, Why: c.secrets.Hide(why), Stderr: c.stderr.tail()}
}
