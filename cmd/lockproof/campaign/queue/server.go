package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockproof/lockproof/adapters/bound"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// connection is a connection to a server. It includes the server if that is in this process.
type connection struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	ours    *server.Server
	release func()
	name    string // the server's name in errors
}

const (
	connecting = 3 * time.Second        // maximum time for connecting
	again      = 100 * time.Millisecond // pause before the next attempt if the server is gone
)

// connect connects to the server. If it has no URL, connect starts it in this process.
func connect(s *campaign.Server) (*connection, error) {
	c := &connection{name: s.String(), release: func() {}}
	asked, err := options(s)
	if err != nil {
		return nil, err
	}
	if s.URL == "" {
		if err := c.start(s); err != nil {
			return nil, err
		}
		asked = append(asked, nats.InProcessServer(c.ours))
	}
	if c.nc, err = nats.Connect(s.URL, asked...); err == nil {
		err = c.greet()
	}
	if err != nil {
		c.close()
		return nil, c.explain(err)
	}
	return c, nil
}

// greet returns an error if the server has no JetStream.
func (c *connection) greet() (err error) {
	if c.js, err = jetstream.New(c.nc); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), connecting)
	defer cancel()
	return enabled(ctx, func() error {
		_, err := c.js.AccountInfo(ctx)
		return err
	})
}

// enabled repeats ask as long as the server says that it has no JetStream, because a server that has just started may
// need a moment. If ctx ends, it returns the last answer.
func enabled(ctx context.Context, ask func() error) error {
	var said error
	for {
		err := ask()
		if !without(err) && !errors.Is(err, nats.ErrNoResponders) {
			if said != nil && ctx.Err() != nil {
				return said
			}
			return err
		}
		said = jetstream.ErrJetStreamNotEnabled
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return said
		}
	}
}

// granted are the limits that a server must respect. Results are megabytes long.
var granted = bound.Limits{Connect: connecting, Most: 128 << 20, Greeting: 1 << 20}

// patient makes connections to a server within the limits of granted.
type patient struct{}

// Dial implements [nats.CustomDialer].
func (patient) Dial(network, address string) (net.Conn, error) {
	conn, err := granted.Dial(context.Background(), network, address)
	if err != nil {
		return nil, err
	}
	return bound.Followed(conn, (&messages{address: address}).follow), nil
}

// options returns the NATS options for a connection to a server.
func options(s *campaign.Server) ([]nats.Option, error) {
	out := []nats.Option{
		nats.Name("lockproof"), nats.Timeout(connecting), nats.FlusherTimeout(connecting), nats.MaxReconnects(-1), nats.ReconnectWait(again),
		nats.SetCustomDialer(patient{}),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the waiting caller gets the error as well
	}
	more, err := credentials(s)
	return append(out, more...), err
}

// start starts a server in this process that listens on no port.
func (c *connection) start(s *campaign.Server) (err error) {
	dir := s.Dir
	if err := errors.Join(s.Folder().Make(), plain(dir)); err != nil {
		return err
	}
	if c.release, err = claim(s.File("lock")); err != nil {
		return err
	}
	c.ours, err = server.NewServer(&server.Options{
		ServerName: "lockproof", DontListen: true, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true,
	})
	if err != nil {
		c.release()
		return fmt.Errorf("starting a queue in %s: %w", dir, err)
	}
	c.ours.Start()
	if !c.ours.ReadyForConnections(10 * time.Second) {
		c.close()
		return fmt.Errorf("starting a queue in %s: it was not ready within 10 s", dir)
	}
	return nil
}

// plain returns an error if a campaign's folder contains anything but folders and regular files. The server would write
// through a link, and would wait forever at a pipe.
func plain(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != dir && !d.IsDir() && !d.Type().IsRegular() {
			err = fmt.Errorf("%s is a link, or no regular file, and a campaign has none: remove it, or name another --dir", path)
		}
		return err
	})
}

func (c *connection) close() {
	if c.nc != nil {
		c.nc.Close()
	}
	if c.ours != nil {
		c.ours.Shutdown()
		c.ours.WaitForShutdown()
	}
	c.release()
}

// JetStream's numbers of errors that a retry does not solve.
const (
	tooFewResources  = 10023
	storeFull        = 10047
	storeFailed      = 10077
	streamLimit      = 10026
	accountResources = 10002
)

// full reports whether an error says that the server has no room left.
func full(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode {
	case tooFewResources, storeFull, storeFailed, streamLimit, accountResources:
		return true
	}
	return false
}

// refused reports whether an error says that the server refuses a request that lockproof needs.
func refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrPermissionViolation) ||
		errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrNkeysNotSupported)
}

// without reports whether an error says that the server has no JetStream.
func without(err error) bool {
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
}

// late reports whether an error says that the server has not answered in time.
func late(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.As(err, &timeout) && timeout.Timeout()
}

// explain turns an error of the server into one that describes it and says what to do.
func (c *connection) explain(err error) error {
	var what string
	switch {
	case err == nil:
		return nil
	case refused(err):
		what = "the server refuses the credentials: give the right ones, with --creds, --nkey or in the URL"
	case full(err):
		what = "the server has no room: make some, and go on; what was stored is there"
	case without(err):
		what = "the server has no JetStream: start it with -js, or name another"
	case errors.Is(err, nats.ErrNoServers):
		what = "no server answers: start one with nats-server -js, name another, or leave --queue out"
	case late(err):
		what = fmt.Sprintf("it did not answer within %v: %v", connecting, bound.ErrServer)
	default:
		what = err.Error()
	}
	return &serverError{fmt.Sprintf("queue %s: %s", c.name, what), err}
}

// serverError is an error of the server, with a description for the user.
type serverError struct {
	text string
	err  error
}

func (e *serverError) Error() string { return e.text }
func (e *serverError) Unwrap() error { return e.err }
