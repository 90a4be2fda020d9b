package main

import (
	"context"
	"time"

	"github.com/hashicorp/consul/api"
)

// ofConsul returns the lock of github.com/hashicorp/consul/api. Its session's TTL is half of the lease, since the
// server may end a session as late as after twice its TTL. An acquire tries for a millisecond, the minimum.
func ofConsul(servers []string) (acquire, error) {
	c, err := api.NewClient(&api.Config{Address: servers[0]})
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, name string, lease time.Duration) (release, error) {
		l, err := c.LockOpts(&api.LockOptions{
			Key: name, SessionTTL: (lease / 2).String(), LockTryOnce: true, LockWaitTime: time.Millisecond, LockDelay: time.Millisecond,
		})
		if err != nil {
			return nil, err
		}
		lost, err := l.Lock(nil)
		if err != nil || lost == nil {
			return nil, err
		}
		return func(context.Context) error { return l.Unlock() }, nil
	}, nil
}
