// Package record records what a program's clients do with locks, as a history that `lockproof check` judges. It
// imports only the standard library. A line has the time of the wall clock, the monotonic time since the recorder
// began, the host, the program's process number, and the client's number and session.
//
// Each run of a program needs its own file. `lockproof check a.jsonl b.jsonl --clock-error 50ms` judges the files of
// several hosts.
package record

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"sync"
	"time"
)

// Recorder writes a history, one complete event after the other. It is safe for concurrent use.
type Recorder struct {
	mu      sync.Mutex
	out     *json.Encoder
	host    string
	begun   time.Time
	clients int
	err     error
}

// New returns a recorder for mutexes with these names.
func New(w io.Writer, mutexes ...string) (*Recorder, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	r := &Recorder{out: json.NewEncoder(w), host: host, begun: time.Now()}
	head := header{Lockproof: "history", Version: 1, Kind: "mutex"}
	for _, name := range mutexes {
		head.Locks = append(head.Locks, named{name})
	}
	return r, r.out.Encode(head)
}

type header struct {
	Lockproof string  `json:"lockproof"`
	Version   int     `json:"version"`
	Kind      string  `json:"kind"`
	Locks     []named `json:"locks"`
}

type named struct {
	Name string `json:"name"`
}

// Err is the first error in writing the history; nil if there was none. After it, nothing more is written.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Client is a client of locks. It makes one call at a time.
type Client struct {
	recorder *Recorder
	number   int
	session  string
}

// Client returns a new client. session names the client's session for people who read the file; "" leaves it out.
func (r *Recorder) Client(session string) *Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients++
	return &Client{recorder: r, number: r.clients, session: session}
}

// Operation is an operation that a client calls.
type Operation string

// The operations.
const (
	Acquire Operation = "acquire"
	Verify  Operation = "verify"
	Release Operation = "release"
)

// Answer is the result of a call. The zero value is an unknown outcome.
type Answer struct {
	// Known says that the outcome of the call is known.
	Known bool
	// Done says that the operation happened, or that a verify was answered. If Known is set and Done is not, the
	// operation certainly did not happen.
	Done bool
	// Held says that a verify was answered with "held".
	Held bool
	// Token is the fencing token of a grant; 0 if it has none.
	Token int64
}

// Begin records a call and returns the function that records its answer. A call without an answer has an unknown
// outcome.
func (c *Client) Begin(op Operation, mutex string) (end func(Answer)) {
	c.recorder.write(&event{Type: "invoke", Process: c.number, F: op, Lock: mutex, Session: c.session})
	return func(a Answer) {
		e := &event{Type: "info", Process: c.number, F: op, Lock: mutex, Session: c.session}
		switch {
		case a.Known && a.Done:
			e.Type = "ok"
			e.Value = a.value(op)
		case a.Known:
			e.Type = "fail"
		}
		c.recorder.write(e)
	}
}

// value returns the value field of the answer's event.
func (a Answer) value(op Operation) *value {
	if op == Release {
		return nil
	}
	return &value{Held: a.Held || op == Acquire, Token: a.Token}
}

type event struct {
	Type    string    `json:"type"`
	Process int       `json:"process"`
	F       Operation `json:"f"`
	Lock    string    `json:"lock"`
	Value   *value    `json:"value,omitempty"`
	Time    int64     `json:"time"`
	Mono    int64     `json:"mono"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Session string    `json:"session,omitempty"`
}

type value struct {
	Held  bool  `json:"held"`
	Token int64 `json:"token,omitempty"`
}

// write writes an event with the current time. The lines of a file are therefore in the order of their times.
func (r *Recorder) write(e *event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	now := time.Now()
	e.Time, e.Mono, e.Host, e.PID = now.UnixNano(), int64(now.Sub(r.begun)), r.host, os.Getpid()
	r.err = r.out.Encode(e)
}

// Mutex is a client's distributed lock.
type Mutex interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}

// Wrap returns a mutex that calls m and records the calls. failed reports whether an error means that the call
// certainly did not happen. After other errors the outcome is unknown; if failed is nil, after all errors.
func (c *Client) Wrap(name string, m Mutex, failed func(error) bool) Mutex {
	return &wrapped{client: c, name: name, mutex: m, failed: failed}
}

type wrapped struct {
	client *Client
	name   string
	mutex  Mutex
	failed func(error) bool
}

// Lock implements Mutex.
func (w *wrapped) Lock(ctx context.Context) error { return w.call(ctx, Acquire, w.mutex.Lock) }

// Unlock implements Mutex.
func (w *wrapped) Unlock(ctx context.Context) error { return w.call(ctx, Release, w.mutex.Unlock) }

func (w *wrapped) call(ctx context.Context, op Operation, call func(context.Context) error) error {
	end := w.client.Begin(op, w.name)
	err := call(ctx)
	end(Answer{Known: err == nil || w.failed != nil && w.failed(err), Done: err == nil})
	return err
}
