package subprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate/clock"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/model/lock"
)

// Client is a client that runs in its own process. It implements [foreign.Client].
type Client struct {
	starter *Starter
	name    string
	child   *child                  // the client's process; nil until the first call
	time    atomic.Pointer[ownTime] // the client's virtual time; nil if the client uses the machine's clock
	output  *output
	stderr  stderrTail
	early   *early       // holds standard error back until the first answer; nil if standard error is not shown
	secrets secret.Known // secrets that the client was given; its shown output does not contain them
	readers sync.WaitGroup
	closing sync.Once
	ignored bool // the process did not end when its standard input ended

	said   string // error text of the last operation; "" if it had no error
	tokens bool   // the client's grants have fencing tokens
	forks  bool   // the client's program can fork clients
	token  int64  // fencing token of the last operation

	abandoned chan *Reply // receives the reply to a call that Do has stopped waiting for

	mu       sync.Mutex
	number   int    // number of the last call that was begun
	written  int    // number of the last call that is completely written
	last     string // method of the last call
	waiting  chan *Reply
	answered int  // number of the last call that was answered
	killed   bool // Kill has been called
	losses   losses
	exit     error         // why there are no more answers; valid once settled is closed
	settled  chan struct{} // closed when there are no more answers
}

// MaxRequest is the maximum length of a call in bytes. Any pipe takes that many bytes without waiting for its reader.
const MaxRequest = 32 << 10

// Initialize starts the process and makes the first call.
func (c *Client) Initialize(ctx context.Context, in foreign.Setup) (foreign.About, error) {
	for _, url := range in.URLs {
		c.secrets.AddAddress(url)
	}
	for name, value := range in.Options {
		c.secrets.AddOption(name, fmt.Sprint(value))
	}
	if c.child == nil {
		if err := c.start(ctx, in); err != nil {
			return foreign.About{}, err
		}
	}
	c.mu.Lock()
	c.name = in.Client
	c.mu.Unlock()
	limit := c.starter.limit()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	options := in.Options
	if options == nil {
		options = map[string]any{}
	}
	r, err := c.Do(ctx, "initialize", initializing(in, options))
	if !errors.As(err, new(*ExitError)) {
		c.early.answered()
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return foreign.About{}, c.protocolError(fmt.Sprintf("no answer within %v: expected one line of JSON (is standard output flushed after each answer?)", limit))
	case err != nil:
		return foreign.About{}, err
	case r.Error != nil:
		return foreign.About{}, c.protocolError(r.Error.Error())
	}
	about, err := aboutOf(r.Result)
	if err != nil {
		return about, c.protocolError(err.Error())
	}
	about.Name = c.secrets.Hide(about.Name)
	c.tokens = about.Tokens
	c.mu.Lock()
	c.losses.announced = about.Losses
	c.mu.Unlock()
	c.mayFork(r.Result)
	return about, nil
}

// start starts the client's process. It has a virtual clock if in asks for one.
func (c *Client) start(ctx context.Context, in foreign.Setup) error {
	var env []string
	var own *clock.Client
	if in.OurTime {
		var err error
		if own, err = clock.NewClient(); err != nil {
			return err
		}
		env = own.Environment()
	}
	child, err := c.starter.start(ctx, in.URLs, env)
	if err != nil {
		if own != nil {
			err = errors.Join(err, own.Close())
		}
		return err
	}
	c.begun(child)
	if own != nil {
		c.time.Store(&ownTime{client: c, clock: own})
	}
	return nil
}

// begun records the client's process, and starts reading its output.
func (c *Client) begun(child *child) {
	c.child = child
	printed, output := newOutput(child.stdout)
	c.output = output
	c.readers.Go(func() {
		_, _ = copyAll(&c.stderr, child.stderr)
		c.stderr.flush()
		c.early.over()
	})
	go c.read(printed)
}

// Call carries out one operation of a lock: it makes the call and decodes the answer.
func (c *Client) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	c.said, c.token = "", 0
	r, err := c.Do(ctx, MethodOf(op), ParamsOf(op, p))
	switch {
	case errors.Is(err, errKilled):
		return lock.Result{Outcome: lock.Unknown, Reason: lock.Crashed}, nil
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}, nil
	case err != nil:
		return lock.Result{}, err
	}
	out, err := Outcome(op, p, r)
	if err == nil && c.tokens {
		c.token, err = TokenOf(op, r)
	}
	if err != nil {
		return out, c.protocolError(err.Error())
	}
	if r.Error != nil {
		c.said = c.secrets.Hide(r.Error.Message)
	}
	return out, nil
}

// Explanation returns the error message in the answer to the last operation. It implements [foreign.Explainer].
func (c *Client) Explanation() string { return c.said }

// Token returns the fencing token that the last operation was granted. It implements [foreign.Fenced].
func (c *Client) Token() int64 { return c.token }

// Forks reports whether the client's program can fork clients.
func (c *Client) Forks() bool { return c.forks }

// Do makes one call of any method and waits for its answer. If Do has stopped waiting for the previous call, it first
// waits for that call's answer. The error is a [*ProtocolError], an [*ExitError], or the context's.
func (c *Client) Do(ctx context.Context, method string, parameters any) (*Reply, error) {
	if c.child == nil {
		return nil, fmt.Errorf("%s: call of %s before initialize", c.name, method)
	}
	if c.abandoned != nil {
		if _, err := c.await(ctx, c.abandoned); err != nil {
			return nil, err
		}
		c.abandoned = nil
	}
	answer, err := c.send(method, parameters)
	if err != nil {
		return nil, err
	}
	r, err := c.await(ctx, answer)
	if err != nil {
		c.abandoned = answer
	}
	return r, err
}

// await waits for the answer to a call that was sent.
func (c *Client) await(ctx context.Context, answer chan *Reply) (*Reply, error) {
	select {
	case r := <-answer:
		return r, nil
	case <-c.settled:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case r := <-answer: // the client may have answered before it ended
		return r, nil
	default:
		return nil, c.exit
	}
}

// errKilled is the error of calls to a client after Kill.
var errKilled = errors.New("the client was ended")

// send writes a call, and returns the channel for its answer. It ignores an error of writing, since the goroutine
// that reads the output finds the reason.
func (c *Client) send(method string, parameters any) (chan *Reply, error) {
	answer := make(chan *Reply, 1)
	line, err := c.begin(method, parameters, answer)
	if err != nil {
		return nil, err
	}
	if _, err := c.child.stdin.Write(line); err != nil && !c.child.endsWithin(exitLimit) {
		c.child.kill()
	}
	c.mu.Lock()
	c.written = c.number
	c.mu.Unlock()
	return answer, nil
}

// begin records that a call is under way, and returns the call as JSON.
func (c *Client) begin(method string, parameters any, answer chan *Reply) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.exit != nil {
		return nil, c.exit
	}
	line, err := json.Marshal(Request{"2.0", c.number + 1, method, parameters})
	if err != nil || len(line) > MaxRequest {
		return nil, errors.Join(fmt.Errorf("%s: call of %s with %d bytes: expected at most %d", c.name, method, len(line), MaxRequest), err)
	}
	c.number++
	c.last, c.waiting = method, answer
	return append(ascii(line), '\n'), nil
}

// ascii escapes the non-ASCII characters of a JSON text. That is needed because a program reads its standard input in
// the encoding of its locale, which may not be UTF-8.
func ascii(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		switch {
		case r <= unicode.MaxASCII:
			out = append(out, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// exitLimit is the maximum time for a program to end after it has closed its standard input or output.
const exitLimit = time.Second

// Kill kills the process group, as a crash does.
func (c *Client) Kill() error {
	if c.child == nil {
		return nil
	}
	c.mu.Lock()
	c.killed = true
	c.mu.Unlock()
	c.child.kill()
	<-c.child.ended
	return nil
}

// Pause suspends the process group with SIGSTOP.
func (c *Client) Pause() error {
	if c.child == nil {
		return foreign.ErrUnsupported
	}
	c.child.pause()
	return nil
}

// Continue resumes the process group with SIGCONT.
func (c *Client) Continue() error {
	if c.child != nil {
		c.child.resume()
	}
	return nil
}

// The maximum time for a program to end after its input has ended, and after SIGTERM.
const (
	inputEndLimit  = 2 * time.Second
	terminateLimit = time.Second
)

// Close closes the standard input of the process, and waits until the process has ended. If that takes too long,
// Close kills it.
func (c *Client) Close() (err error) {
	if c.child == nil {
		return nil
	}
	c.closing.Do(func() {
		c.mu.Lock()
		c.killed = true
		c.mu.Unlock()
		c.child.resume()
		c.child.stdin.Close()
		if !c.child.endsWithin(inputEndLimit) {
			c.ignored = true
			c.child.terminate()
		}
		if !c.child.endsWithin(terminateLimit) {
			c.child.kill()
			<-c.child.ended
		}
		<-c.settled
		c.child.release()
		err = c.endTime()
	})
	return err
}

// IgnoredEnd reports, after Close, whether the program did not end when its input ended, so that Close had to kill
// it.
func (c *Client) IgnoredEnd() bool { return c.ignored }
