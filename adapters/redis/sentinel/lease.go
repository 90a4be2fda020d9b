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

// Lease is a lock by a key with a lease. Waits makes a grant wait until a replica has the key.
type Lease struct {
	Name, Doc string
	waits     bool
}

// Leases are all designs.
var Leases = []Lease{
	{Name: "redis-lease", Doc: "sets a key with a token and a lease, by SET NX PX; verifies by reading it"},
	{Name: "redis-lease-waited", Doc: "the same, and waits until a replica has the key, by WAIT", waits: true},
}

// LeaseTime is the duration of a lease. Clients do not renew it: they hold the lock for less.
const LeaseTime = 5 * time.Second

const (
	waitTime    = time.Second     // for a replica
	replyLimit  = 2 * time.Second // for an answer
	connectTime = 2 * time.Second
)

// Starter starts clients of the design.
func (l Lease) Starter() inprocess.Starter {
	return inprocess.Starter{Name: l.Name, New: func(_ context.Context, address string) (inprocess.Lock, error) { return l.client(address) }}
}

// client is a client that finds the master through the Sentinels of an address; see [Cluster.URL].
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

// holder is a client of a lock by a lease. It asks the Sentinels for the master if it has no connection, or has lost it.
type holder struct {
	design    Lease
	name      string // of the deployment
	sentinels []string
	dialer    net.Dialer
	master    *resp.Conn // nil if there is none
	token     string     // of the hold; "" if there is none
}

// connect connects to a server of ours.
func connect(ctx context.Context, d *net.Dialer, address string) (*resp.Conn, error) {
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return resp.On(conn, replyLimit), nil
}

// do carries out a command on the master. If the connection fails, it is closed.
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

// find connects to the master that the first answering Sentinel names.
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

// ask connects to the master that a Sentinel names. It returns an error if that server says that it is no longer the master.
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

// Acquire sets the key, unless it exists.
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

// Verify reads the key.
func (h *holder) Verify(ctx context.Context, name string, _ int) (bool, error) {
	v, err := h.do(ctx, "GET", name)
	return err == nil && h.token != "" && string(v.Text) == h.token, err
}

// giveBack deletes the key if it has the given token.
const giveBack = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`

// Release deletes the key, if it is this client's.
func (h *holder) Release(ctx context.Context, name string, _ int) error {
	token := h.token
	h.token = ""
	_, err := h.do(ctx, "EVAL", giveBack, "1", name, token)
	return err
}

// Close closes the connection.
func (h *holder) Close() (err error) {
	if h.master != nil {
		err = h.master.Close()
	}
	h.master = nil
	return err
}
