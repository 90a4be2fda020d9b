package consul

import (
	"context"
	"net"
	"time"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
)

// Measured returns the agent as a server whose locks are measured. The clients neither watch keys nor renew sessions,
// as that is not part of a lock's operations.
func (a *Agent) Measured() measure.Server { return measuredAgent{a} }

type measuredAgent struct{ agent *Agent }

// Name implements [measure.Server].
func (m measuredAgent) Name() string { return m.agent.Version }

// Lock implements [measure.Server]. A session's TTL is at least ten seconds, even if lease is shorter.
func (m measuredAgent) Lock(ctx context.Context, t *lock.Target, lease time.Duration) (measure.Lock, error) {
	o := consul.Table.Of(t.Settled(lock.BackendOf(t).Defaults))
	o.TTL = int(max(lease, defaultTTL).Milliseconds())
	s, err := m.agent.space(ctx)
	if err != nil {
		return nil, err
	}
	return &measuredLock{s, consul.Protocol{Options: o, Prefix: s.mark + stress.Lock, Limit: 1}}, nil
}

type measuredLock struct {
	space    *space
	protocol consul.Protocol
}

// Lease implements [measure.Lock]. It returns twice the session's TTL, after which the agent ends a session (see
// FACTS K2).
func (l *measuredLock) Lease() time.Duration {
	return 2 * time.Duration(l.protocol.TTL) * time.Millisecond
}

// Close implements [measure.Lock].
func (l *measuredLock) Close() error { return l.space.end() }

// Client implements [measure.Lock].
func (l *measuredLock) Client(ctx context.Context, _ int) (measure.Client, error) {
	c := &measuredClient{space: l.space, protocol: &l.protocol}
	var err error
	c.agent, err = newAgent(l.space.agent.url, func(ctx context.Context, network, address string) (net.Conn, error) {
		socket, err := granted.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return c.traffic.Over(socket), nil
	})
	if err == nil {
		_, err = c.Do(ctx, lock.Connect)
	}
	return c, err
}

// measuredClient is a lock machine with a connection to the agent.
type measuredClient struct {
	space    *space
	protocol *consul.Protocol
	machine  consul.Machine
	agent    *Agent
	traffic  measure.Traffic
	requests int
	killed   bool
}

// Do implements [measure.Client].
func (c *measuredClient) Do(ctx context.Context, op lock.Op) (lock.Result, error) {
	c.protocol.Start(&c.machine, op)
	for c.machine.Result.Outcome == lock.Pending {
		r := c.protocol.Next(&c.machine, "")
		if err := c.space.renew(ctx); err != nil {
			return lock.Result{}, err
		}
		c.space.note(&r)
		reply, err := c.agent.Do(ctx, &r)
		if err != nil {
			return lock.Result{}, err
		}
		c.requests++
		c.protocol.Apply(&c.machine, &r, &reply)
	}
	return c.machine.Result, nil
}

// Spent implements [measure.Client]. Every request counts as one round trip.
func (c *measuredClient) Spent() measure.Spent {
	return c.traffic.Add(measure.Spent{Commands: c.requests, RoundTrips: c.requests})
}

// Kill implements [measure.Client]. The client's session stays until its TTL is over.
func (c *measuredClient) Kill() {
	c.killed = true
	c.agent.client.CloseIdleConnections()
}

// Close implements [measure.Client]. It ends the client's session, unless the client was killed.
func (c *measuredClient) Close() {
	if c.machine.Session != "" && !c.killed {
		_, err := c.agent.Do(context.Background(), &consul.Request{Method: consul.DestroySession, Session: consul.Session{ID: c.machine.Session}})
		_ = err // after an error, the session ends when its TTL is over
	}
	c.agent.client.CloseIdleConnections()
}
