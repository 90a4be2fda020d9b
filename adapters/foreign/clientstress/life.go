package clientstress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/lock"
)

// life is a running client, from its start to its end: one process of the history, with its connection to the broker.
type life struct {
	client  foreign.Client
	about   foreign.About
	process int32
	server  *wire.Server // proxy through which the client reaches the broker; nil if it connects directly
	relay   *relay       // observes how the client's connections end; nil if that is not observed
	session
}

// begin starts a client with the given number, as the given process of the history. If proxy is not nil, the client
// reaches the broker through it.
func (s *runner) begin(ctx context.Context, number int, process int32, proxy *wire.Proxy) (_ *life, err error) {
	l, url := &life{process: process}, s.urlOf(number)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("client %d: %w", number, err), l.end(true))
		}
	}()
	if proxy != nil {
		if l.server, err = wire.Listen("127.0.0.1:0", wire.Config{Backend: proxy}); err != nil {
			return nil, err
		}
		if url, err = l.server.URLFor(url); err != nil {
			return nil, err
		}
	}
	if s.config.Holds != nil && process > 0 && strings.HasPrefix(url, "amqp") {
		if url, err = l.watch(s, url); err != nil {
			return nil, err
		}
	}
	if l.client, err = s.config.Starter.Start(ctx, number); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, foreign.StartLimit)
	defer cancel()
	l.about, err = foreign.Introduce(ctx, l.client, foreign.Setup{Client: foreign.ClientName(number), Lock: s.config.Kind, URLs: []string{url}, Options: s.config.Options})
	return l, err
}

// end ends the client. If crash is true, it is killed and its connections are cut; otherwise it closes them properly.
func (l *life) end(crash bool) error {
	var errs []error
	if crash && l.client != nil {
		errs = append(errs, l.client.Kill())
	}
	if crash && l.server != nil {
		errs = append(errs, l.server.Close())
	}
	l.quiet()
	if l.client != nil {
		errs = append(errs, l.client.Close())
	}
	if !crash && l.server != nil {
		errs = append(errs, l.server.Close())
	}
	if l.relay != nil {
		errs = append(errs, l.relay.Close())
	}
	return errors.Join(errs...)
}

// urlOf is the broker's address for the client with the given number. The setup client, 0, gets the first address.
func (s *runner) urlOf(number int) string {
	if n := len(s.config.URLs); n > 0 {
		return s.config.URLs[max(0, number-1)%n]
	}
	return s.config.URL
}

// offers reports whether the client supports an operation.
func (l *life) offers(op lock.Op) bool { return slices.Contains(l.about.Operations, op) }

// counts is the client's traffic so far, as far as a proxy has seen it.
func (l *life) counts() (c gate.Counts) {
	if l.server != nil {
		c = plugin.CountsOf(l.server.Counts())
	}
	return c
}
