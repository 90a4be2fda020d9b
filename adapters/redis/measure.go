package redis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/lock"
	model "github.com/lockproof/lockproof/model/redis"
)

// Measured returns the server as one whose locks are measured. A lock on several servers uses several sets of keys on
// this one.
func (s *Server) Measured(ctx context.Context) (measure.Server, error) {
	info, err := s.client.Info(ctx, "persistence").Result()
	if err != nil {
		return nil, fmt.Errorf("asking the Redis at %s whether it keeps a log: %w; %s", s.client.Options().Addr, err, next)
	}
	kept := "no"
	if strings.Contains(info, "aof_enabled:1") {
		kept = "yes"
	}
	return measuredServer{s, fmt.Sprintf("%s (appendonly=%s)", s.Version, kept)}, nil
}

type measuredServer struct {
	server *Server
	name   string // server's name, with the setting that decides how long a write takes
}

// Name implements [measure.Server].
func (m measuredServer) Name() string { return m.name }

// Lock implements [measure.Server].
func (m measuredServer) Lock(ctx context.Context, t *lock.Target, lease time.Duration) (measure.Lock, error) {
	l := &measuredLock{server: m.server, protocol: model.Protocol{Options: model.Table.Of(t.Settled(lock.BackendOf(t).Defaults))}}
	shortest := l.protocol.LeaseOf(1)
	if above := l.protocol.LeaseOf(math.MaxUint8); above < shortest {
		shortest = above
	}
	l.millisecond = (lease + time.Duration(shortest) - 1) / time.Duration(shortest)
	for range l.protocol.Servers {
		p := m.server.Space().Lasting(l.millisecond)
		if err := p.keys.own(ctx, p.name(model.Key{}, stress.Lock)); err != nil {
			return nil, err
		}
		l.spaces = append(l.spaces, p)
	}
	return l, nil
}

type measuredLock struct {
	server      *Server
	protocol    model.Protocol
	millisecond time.Duration // real length of a model's millisecond
	spaces      []*Space      // one set of keys for each server of the lock
}

// Lease implements [measure.Lock].
func (l *measuredLock) Lease() time.Duration {
	return time.Duration(l.protocol.LeaseOf(priority)) * l.millisecond
}

// Close implements [measure.Lock].
func (l *measuredLock) Close() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	for _, p := range l.spaces {
		err = errors.Join(err, p.Sweep(ctx))
	}
	return err
}

// Client implements [measure.Lock].
func (l *measuredLock) Client(ctx context.Context, number int) (measure.Client, error) {
	if number > math.MaxUint8 {
		return nil, fmt.Errorf("client %d: expected at most %d", number, math.MaxUint8)
	}
	c := &measuredClient{protocol: &l.protocol, number: uint8(number), began: time.Now(), millisecond: l.millisecond}
	o := *l.server.client.Options()
	o.PoolSize, o.Dialer = 1, func(ctx context.Context, network, address string) (net.Conn, error) {
		socket, err := dialer(&o)(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return c.traffic.Over(socket), nil
	}
	c.server = &Server{URL: l.server.URL, client: redis.NewClient(&o)}
	for _, p := range l.spaces {
		c.spaces = append(c.spaces, &Space{c.server, p.prefix, p.scale, p.keys})
	}
	if err := c.server.client.Ping(ctx).Err(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// measuredClient is a lock machine with a connection to the server.
type measuredClient struct {
	protocol    *model.Protocol
	machine     model.Machine
	number      uint8
	server      *Server
	spaces      []*Space
	began       time.Time
	millisecond time.Duration
	traffic     measure.Traffic
	commands    int
}

// priority is the priority of all clients, so that no client takes the lock from another.
const priority = 1

// now returns the client's clock, in the model's milliseconds.
func (c *measuredClient) now() int64 { return int64(time.Since(c.began) / c.millisecond) }

// Do implements [measure.Client].
func (c *measuredClient) Do(ctx context.Context, op lock.Op) (lock.Result, error) {
	c.protocol.Start(&c.machine, c.number, op, priority, c.now())
	for c.machine.Result.Outcome == lock.Pending {
		if len(c.machine.Outgoing()) > 0 {
			return lock.Result{}, errors.New("a client of the same priority was asked for the lock")
		}
		node, cmd := c.protocol.Next(&c.machine, 0)
		reply, err := c.spaces[node].Do(ctx, cmd, stress.Lock)
		if err != nil {
			return lock.Result{}, err
		}
		c.commands++
		c.protocol.Apply(&c.machine, reply, c.now())
	}
	return c.machine.Result, nil
}

// Spent implements [measure.Client]. Every command is a round trip.
func (c *measuredClient) Spent() measure.Spent {
	return c.traffic.Add(measure.Spent{Commands: c.commands, RoundTrips: c.commands})
}

// Kill implements [measure.Client]. The client's hold lasts until its lease ends.
func (c *measuredClient) Kill() { c.Close() }

// Close implements [measure.Client].
func (c *measuredClient) Close() { _ = c.server.client.Close() } // an error means that the client is closed already
