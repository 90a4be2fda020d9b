package plugin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/clock"
	"github.com/lockproof/lockproof/adapters/gate/process"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/redis/node"
	"github.com/lockproof/lockproof/adapters/redis/resp"
)

// instance is one redis-server that lockproof started, with a virtual clock.
type instance struct {
	node    *node.Node
	clock   *clock.Clock
	control atomic.Pointer[resp.Conn] // replaced after a restart, while other goroutines may use it
	proxy   *stream.Proxy
	scripts scripts
	// up is locked during a restart, so that a client that connects meanwhile waits. Otherwise the server could
	// accept its connection and close it at once, which no real server does.
	up sync.RWMutex
}

var _ stream.Upstream = (*instance)(nil)

// start starts a server. place is its index, if there are several.
func start(place int) (_ *instance, err error) {
	i := new(instance)
	if i.node, err = node.New("--save", "", "--dbfilename", "kept.rdb"); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if i.clock, err = clock.New(ctx, i.node.Folder()); err == nil {
		err = i.node.Start(ctx, i.clock.Environment()...)
	}
	if err == nil {
		err = i.connect()
	}
	if err != nil {
		return nil, errors.Join(err, i.close())
	}
	i.proxy = stream.NewProxy(protocol{&i.scripts}, i, place)
	return i, nil
}

// restart stops the server and starts it again, with all its data.
func (i *instance) restart(ctx context.Context) error {
	i.up.Lock()
	defer i.up.Unlock()
	_, _ = i.control.Load().Do("SHUTDOWN", "SAVE", "NOW", "FORCE") // the connection ends without an answer
	_ = i.control.Load().Close()
	if err := i.node.Ended(ctx); err != nil {
		return err
	}
	if err := i.node.Restart(ctx); err != nil {
		return err
	}
	return i.connect()
}

// answerLimit is the maximum time for the server to answer. Tests lower it.
var answerLimit = 20 * time.Second

// ours opens a connection for lockproof's own commands.
func (i *instance) ours() (*resp.Conn, error) {
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(i.node.Port), answerLimit)
	if err != nil {
		return nil, err
	}
	return resp.On(conn, answerLimit), nil
}

// connect opens the connection for lockproof's own commands.
func (i *instance) connect() error {
	control, err := i.ours()
	if err == nil {
		i.control.Store(control)
	}
	return err
}

// close stops the server and removes its files.
func (i *instance) close() error {
	var errs []error
	if control := i.control.Load(); control != nil {
		errs = append(errs, control.Close())
	}
	return errors.Join(append(errs, i.clock.Close(), i.node.Stop())...)
}

// keys returns the names of all keys, sorted.
func (i *instance) keys() (all []string, err error) {
	v, err := i.control.Load().Do("KEYS", "*")
	for _, item := range v.Items {
		all = append(all, string(item.Text))
	}
	slices.Sort(all)
	return all, err
}

// sizes are the commands that return the size of a key, by its type.
var sizes = map[string]string{"list": "LLEN", "set": "SCARD", "zset": "ZCARD", "hash": "HLEN", "stream": "XLEN"}

// item returns a key as an item of the gate, with its type, size and expiry time.
func (i *instance) item(key string) gate.Item {
	item := gate.Item{Name: key}
	if left, err := i.control.Load().Do("PTTL", key); err == nil {
		item.Lasts = milliseconds(left.Text)
	}
	kind, err := i.control.Load().Do("TYPE", key)
	if size := sizes[string(kind.Text)]; err == nil && size != "" {
		amount, _ := i.control.Load().Do(size, key)
		item.Amount = atoi(amount.Text)
	}
	return item
}

// milliseconds parses a number of milliseconds; it returns 0 if there is none.
func milliseconds(b []byte) int64 {
	n, _ := strconv.ParseInt(string(b), 10, 64)
	return max(0, n)
}

// Dial opens a connection for a client. It returns the connection's number at the server.
func (i *instance) Dial() (net.Conn, int64, error) {
	i.up.RLock()
	defer i.up.RUnlock()
	c, err := i.ours()
	if err != nil {
		return nil, 0, err
	}
	id, err := c.Do("CLIENT", "ID")
	if err != nil {
		return nil, 0, errors.Join(err, c.Close())
	}
	if err := c.SetDeadline(time.Time{}); err != nil { // no deadline, as the client decides when to send
		return nil, 0, errors.Join(err, c.Close())
	}
	return c.Conn, milliseconds(id.Text), nil
}

// Waits reports whether the server keeps a connection's command waiting.
func (i *instance) Waits(id int64) (bool, error) {
	v, err := i.control.Load().Do("CLIENT", "LIST", "ID", strconv.FormatInt(id, 10))
	if err != nil {
		return false, err
	}
	_, rest, _ := strings.Cut(string(v.Text), " flags=")
	flags, _, _ := strings.Cut(rest, " ")
	return strings.Contains(flags, "b"), nil
}

// Barrier sends two commands, one after the other, and waits for their answers. When it returns, the server has sent
// everything that it had to send.
func (i *instance) Barrier() error {
	for range 2 {
		if _, err := i.control.Load().Do("PING"); err != nil {
			return fmt.Errorf("waiting for our redis-server: %w", err)
		}
	}
	return nil
}

// Kill ends a client's connection at the server.
func (i *instance) Kill(id int64) error {
	_, err := i.control.Load().Do("CLIENT", "KILL", "ID", strconv.FormatInt(id, 10))
	return err
}

// stock is an unmodified redis-server. It implements [process.Stock].
type stock struct{ *node.Node }

// Stock starts an unmodified server, which uses the machine's clock and stores nothing on disk.
func Stock() (process.Stock, error) {
	n, err := node.New("--save", "", "--dbfilename", "kept.rdb")
	if err != nil {
		return nil, err
	}
	if err := n.Start(context.Background()); err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	return stock{n}, nil
}

// Port returns the server's port on this machine.
func (s stock) Port() int { return s.Node.Port }

// URL returns the URL at which clients find the server on host.
func (stock) URL(host string) string { return urlAt(host) }

// Close stops the server and removes its files.
func (s stock) Close() error { return s.Stop() }

// urlAt returns the URL of a server on host.
func urlAt(host string) string { return "redis://" + host + "/0" }
