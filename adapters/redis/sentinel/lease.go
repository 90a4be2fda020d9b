package sentinel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/redis/resp"
)

// Lease is a lock that is a key with a lease. If waits is true, a grant waits until a replica has the key.
type Lease struct {
	Name, Doc string
	waits     bool
}

// Leases are the two variants of the lock, with and without waiting for a replica.
var Leases = []Lease{
	{Name: "redis-lease", Doc: "sets a key with a token and a lease, by SET NX PX; verifies by reading it"},
	{Name: "redis-lease-waited", Doc: "the same, and waits until a replica has the key, by WAIT", waits: true},
}

// LeaseTime is the duration of a lease. Clients do not renew it, as they hold the lock for a shorter time.
const LeaseTime = 5 * time.Second

const (
	waitTime    = time.Second     // maximum time for a replica to have the key
	replyLimit  = 2 * time.Second // maximum time for an answer
	connectTime = 2 * time.Second
)

// Starter returns a starter of clients of the lock.
func (l Lease) Starter() inprocess.Starter {
	return inprocess.Starter{Name: l.Name, New: func(_ context.Context, address string) (inprocess.Lock, error) { return l.client(address) }}
}

// client returns a client. address is a result of [Cluster.URL].
func (l Lease) client(address string) (*holder, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "redis+sentinel" {
		return nil, fmt.Errorf("%q: expected redis+sentinel://HOST:PORT,…/NAME?from=ADDRESS", address)
	}
	h := &holder{design: l, name: strings.TrimPrefix(u.Path, "/"), sentinels: strings.Split(u.Host, ",")}
	h.dialer.Timeout = connectTime
	if from := net.ParseIP(u.Query().Get("from")); from != nil {
		h.dialer.LocalAddr = &net.TCPAddr{IP: from}
	}
	return h, nil
}

// holder is a client of the lock. If it has no connection to the master, it asks the Sentinels which server is the
// master.
type holder struct {
	design    Lease
	name      string // name of the deployment
	sentinels []string
	dialer    net.Dialer
	master    *resp.Conn // nil if not connected
	token     string     // token of the present hold; "" if there is none
}

// connect connects to one of the deployment's servers.
func connect(ctx context.Context, d *net.Dialer, address string) (*resp.Conn, error) {
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return resp.On(conn, replyLimit), nil
}

// do carries out a command on the master. If the connection breaks, do closes it.
func (h *holder) do(ctx context.Context, args ...string) (v resp.Value, err error) {
	if h.master == nil {
		if h.master, err = h.find(ctx); err != nil {
			return v, err
		}
	}
	if v, err = h.master.Do(args...); err != nil {
		err = errors.Join(err, h.Close())
	}
	return v, err
}

// find asks the Sentinels for the master until one answers, and connects to the master.
func (h *holder) find(ctx context.Context) (conn *resp.Conn, err error) {
	var errs []error
	for _, s := range h.sentinels {
		if conn, err = h.ask(ctx, s); err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

var errNoMaster = errors.New("there is no master now")

// ask asks one Sentinel for the master and connects to it. It returns an error if that server says that it is not the
// master any more.
func (h *holder) ask(ctx context.Context, sentinel string) (*resp.Conn, error) {
	s, err := connect(ctx, &h.dialer, sentinel)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	v, err := s.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", h.name)
	if err != nil || len(v.Items) != 2 {
		return nil, fmt.Errorf("the Sentinel at %s does not know the master of %s: %w", sentinel, h.name, errors.Join(err, errNoMaster))
	}
	master, err := connect(ctx, &h.dialer, net.JoinHostPort(string(v.Items[0].Text), string(v.Items[1].Text)))
	if err != nil {
		return nil, err
	}
	if v, err = master.Do("ROLE"); err != nil || len(v.Items) == 0 || string(v.Items[0].Text) != "master" {
		return nil, errors.Join(err, errNoMaster, master.Close())
	}
	return master, nil
}

// Acquire sets the key unless it exists. It returns 1 if it has set the key, and 0 otherwise.
func (h *holder) Acquire(ctx context.Context, name string) (int, error) {
	token := rand.Text()
	v, err := h.do(ctx, "SET", name, token, "NX", "PX", milliseconds(LeaseTime))
	if err != nil || v.Null {
		return 0, err
	}
	h.token = token
	if h.design.waits {
		copies, err := h.do(ctx, "WAIT", "1", milliseconds(waitTime))
		if err != nil || string(copies.Text) == "0" {
			return 0, errors.Join(fmt.Errorf("no replica has the key after %s", waitTime), err, h.Release(ctx, name, 1))
		}
	}
	return 1, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Verify reads the key, and compares its value with this client's token.
func (h *holder) Verify(ctx context.Context, name string, _ int) (bool, error) {
	v, err := h.do(ctx, "GET", name)
	return err == nil && h.token != "" && string(v.Text) == h.token, err
}

// giveBack is a script that deletes the key if its value is the given token.
const giveBack = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`

// Release deletes the key if its value is this client's token.
func (h *holder) Release(ctx context.Context, name string, _ int) error {
	token := h.token
	h.token = ""
	_, err := h.do(ctx, "EVAL", giveBack, "1", name, token)
	return err
}

// Close closes the connection to the master.
func (h *holder) Close() (err error) {
	if h.master != nil {
		err = h.master.Close()
	}
	h.master = nil
	return err
}
