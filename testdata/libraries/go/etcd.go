package main

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
)

// ofEtcd returns the mutex of go.etcd.io/etcd/client/v3/concurrency. Each lock has its own session, which lasts as
// long as the lease.
func ofEtcd(servers []string) (acquire, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: servers, Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, name string, lease time.Duration) (release, error) {
		s, err := concurrency.NewSession(c, concurrency.WithTTL(int(lease/time.Second)))
		if err != nil {
			return nil, err
		}
		m := concurrency.NewMutex(s, name)
		err = m.TryLock(ctx)
		if errors.Is(err, concurrency.ErrLocked) {
			return nil, s.Close()
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return func(ctx context.Context) error { return errors.Join(m.Unlock(ctx), s.Close()) }, nil
	}, nil
}
