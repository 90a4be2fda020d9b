package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	zero "github.com/zeromicro/go-zero/core/stores/redis"
)

// connect returns a client of the server at url, with the driver's default settings.
func connect(url string) (*redis.Client, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	return redis.NewClient(o), nil
}

// ofRedislock returns the lock of github.com/bsm/redislock.
func ofRedislock(servers []string) (extending, error) {
	c, err := connect(servers[0])
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, name string, lease time.Duration) (release, extend, error) {
		held, err := redislock.Obtain(ctx, c, name, lease, nil)
		if errors.Is(err, redislock.ErrNotObtained) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		return held.Release, func(ctx context.Context, lease time.Duration) (bool, error) {
			err := held.Refresh(ctx, lease, nil)
			if errors.Is(err, redislock.ErrNotObtained) {
				return false, nil
			}
			return err == nil, err
		}, nil
	}, nil
}

// ofRedsync returns the mutex of github.com/go-redsync/redsync.
func ofRedsync(servers []string) (extending, error) {
	var pools []redsyncredis.Pool
	for _, s := range servers {
		c, err := connect(s)
		if err != nil {
			return nil, err
		}
		pools = append(pools, goredis.NewPool(c))
	}
	locks := redsync.New(pools...)
	return func(ctx context.Context, name string, lease time.Duration) (release, extend, error) {
		m := locks.NewMutex(name, redsync.WithExpiry(lease))
		err := m.TryLockContext(ctx)
		var taken *redsync.ErrTaken
		if errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		return func(ctx context.Context) error {
				_, err := m.UnlockContext(ctx)
				return err
			}, func(ctx context.Context, _ time.Duration) (bool, error) { // extends by the initial lease
				held, err := m.ExtendContext(ctx)
				if errors.Is(err, redsync.ErrExtendFailed) || errors.As(err, &taken) {
					return false, nil
				}
				return held, err
			}, nil
	}, nil
}

// ofGoZero returns the lock of github.com/zeromicro/go-zero.
func ofGoZero(servers []string) (acquire, error) {
	o, err := redis.ParseURL(servers[0])
	if err != nil {
		return nil, err
	}
	store := zero.New(o.Addr)
	return func(ctx context.Context, name string, lease time.Duration) (release, error) {
		l := zero.NewRedisLock(store, name)
		l.SetExpire(int(lease.Seconds()))
		if ok, err := l.AcquireCtx(ctx); err != nil || !ok {
			return nil, err
		}
		return func(ctx context.Context) error {
			_, err := l.ReleaseCtx(ctx)
			return err
		}, nil
	}, nil
}
