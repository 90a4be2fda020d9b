package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockproof/lockproof/adapters/bound"
	"github.com/lockproof/lockproof/adapters/redis/node"
)

// EnvURL names the environment variable with the address of a Redis, as redis://user:password@host:port/database.
const EnvURL = "LOCKPROOF_REDIS_URL"

// usualURL is the address of a Redis that was installed without configuration.
const usualURL = "redis://127.0.0.1:6379/0"

// answerLimit is the maximum time for a server to answer one command. After that, the server counts as gone.
const answerLimit = 10 * time.Second

// granted are the limits on what a server may send.
var granted = bound.Limits{Connect: answerLimit, Answer: answerLimit, Most: 64 << 20}

// ErrNoServer is wrapped by the error of [Find] if there is no Redis.
var ErrNoServer = errors.New("no Redis: set " + EnvURL + " to an address such as redis://127.0.0.1:6379/0, or install redis-server and start it")

// Server is a Redis that is ready for clients, any number at once.
type Server struct {
	URL     string
	Version string // name and version, such as "Redis 7.0.15"

	client *redis.Client
	node   *node.Node // nil unless lockproof started the server

	tidyOnce sync.Once
	accounts bool // the server has the set that lists the keys of runs
}

// go-redis prints the state of its connections to standard error. Errors already contain what matters.
func init() { redis.SetLogger(quiet{}) }

type quiet struct{}

// Printf drops a message of go-redis.
func (quiet) Printf(context.Context, string, ...any) {}

// next is the advice in the error for a server that does not answer.
const next = "see that it runs and takes commands (redis-cli -u ADDRESS ping), or name another in " + EnvURL

// Find returns the server at url, otherwise the one that LOCKPROOF_REDIS_URL names, otherwise the one at the usual address
// of this machine.
func Find(ctx context.Context, url string) (*Server, error) {
	named := cmp.Or(url, os.Getenv(EnvURL))
	s, err := Dial(ctx, cmp.Or(named, usualURL))
	if named == "" && errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("nobody listens at 127.0.0.1:6379: %w", ErrNoServer)
	}
	return s, err
}

// Dial connects to the server at a URL. Close ends the connections.
func Dial(ctx context.Context, url string) (*Server, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("the address of a Redis: %w; expected one such as %s", err, usualURL)
	}
	o.MaxRetries = -1 // no retries, since a repeated command would count twice
	o.ReadTimeout, o.WriteTimeout = answerLimit, answerLimit
	o.Dialer = dialer(o)
	s := &Server{URL: url, client: redis.NewClient(o)}
	info, err := s.client.Info(ctx, "server").Result()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("asking the Redis at %s for its version: %w; %s", o.Addr, err, next), s.client.Close())
	}
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, "redis_version:"); ok {
			s.Version = "Redis " + strings.TrimSpace(v)
		}
	}
	return s, nil
}

// Close ends the connections to the server. It also stops the server, if lockproof started it.
func (s *Server) Close() error {
	err := s.client.Close()
	if s.node != nil {
		err = errors.Join(err, s.node.Stop())
	}
	return err
}

// Start starts the installed redis-server, as package node does. Close ends it and removes its files. If none is installed,
// the error is [ErrNoServer].
func Start(ctx context.Context, args ...string) (*Server, error) {
	n, err := node.New(args...)
	if errors.Is(err, node.ErrNoProgram) {
		return nil, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	if err != nil {
		return nil, err
	}
	if err := n.Start(ctx); err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	s, err := Dial(ctx, n.URL())
	if err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	s.node = n
	return s, nil
}

// Restart kills a server that lockproof started, and starts it again. Data in memory is lost; data on disk is kept.
func (s *Server) Restart(ctx context.Context) error {
	if s.node == nil {
		return errors.New("restarting a Redis that was not started here")
	}
	if err := s.node.Restart(ctx); err != nil {
		return err
	}
	again, err := Dial(ctx, s.node.URL())
	if err != nil {
		return err
	}
	was := s.client
	s.client = again.client
	return was.Close()
}
