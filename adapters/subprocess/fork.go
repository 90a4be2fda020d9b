package subprocess

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Fork is the method that makes a program fork a client. It is called only if the program has declared "forks":true.
const Fork = "fork"

// forking are the parameters of a call of the method fork.
type forking struct {
	Socket string `json:"socket"`
}

// stream is one end of a pipe or of a socket.
type stream interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
}

// template is a process that is not a client itself, and forks a client on request. Forking an interpreter with its
// libraries is ten times as fast as starting it.
type template struct {
	program *Client
	sockets *sockets
}

// mayFork records whether the client's program declares that it can fork. result is the result of initialize.
func (c *Client) mayFork(result jsontext.Value) {
	var in begun
	c.forks = json.Unmarshal(result, &in) == nil && in.Forks
	if c.forks && canFork {
		c.starter.mu.Lock()
		defer c.starter.mu.Unlock()
		c.starter.forks = true
	}
}

// forked lets the template fork a process, and returns it. It returns nil unless the programs have declared that they
// can fork.
func (s *Starter) forked(ctx context.Context, urls []string) (*child, error) {
	if !s.forks {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit())
	defer cancel()
	if s.template == nil {
		t, err := s.newTemplate(urls)
		if err != nil {
			return nil, err
		}
		s.template = t
	}
	return s.template.fork(ctx)
}

// newTemplate starts a program as a template, which forks clients.
func (s *Starter) newTemplate(urls []string) (*template, error) {
	sockets, err := listen()
	if err != nil {
		return nil, fmt.Errorf("a socket for programs that fork: %w", err)
	}
	child, err := s.command(urls)
	if err != nil {
		sockets.end()
		return nil, err
	}
	t := &template{s.Client("the process that forks clients"), sockets}
	t.program.begun(child)
	return t, nil
}

// fork makes the template fork a process.
func (t *template) fork(ctx context.Context) (*child, error) {
	r, err := t.program.Do(ctx, Fork, forking{t.sockets.path})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, t.program.protocolError("no answer: expected {}, and a process that connects to the socket")
	case err != nil:
		return nil, err
	case r.Error != nil:
		return nil, t.program.protocolError(r.Error.Error())
	}
	child, err := t.sockets.accept(ctx)
	if err != nil {
		return nil, t.program.protocolError(err.Error())
	}
	return child, nil
}

// end ends the template. Processes that it has forked continue.
func (t *template) end() {
	_ = t.program.Kill() // the template holds no lock, so it may be killed
	_ = t.program.Close()
	t.sockets.end()
}
