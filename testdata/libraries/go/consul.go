package main

import (
	"context"
	"time"

	"github.com/hashicorp/consul/api"
)

// ofConsul is the lock of github.com/hashicorp/consul/api. Its session lasts half of a lease, and the server may end it as late as after
// twice as long. A try lasts a millisecond, the least that there is.
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
