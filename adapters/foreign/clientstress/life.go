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

// life is one life of a client under stress: a process of the history, and its way to the broker.
type life struct {
	client  foreign.Client
	about   foreign.About
	process int32
	server  *wire.Server // what the client takes for the broker; nil if it goes straight to it
	relay   *relay       // what notices how its connections end; nil where that is not looked at
	session
}

// begin starts a client. A proxy of nil is none.
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

// end ends the client: as a crash would, in which its connections are cut, or in good order.
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

// urlOf is where a client finds the broker. Client 0, who sets up, is where the first is.
func (s *runner) urlOf(number int) string {
	if n := len(s.config.URLs); n > 0 {
		return s.config.URLs[max(0, number-1)%n]
	}
	return s.config.URL
}

// offers reports whether the client has an operation.
func (l *life) offers(op lock.Op) bool { return slices.Contains(l.about.Operations, op) }

// counts is what the client has sent and was answered so far, as far as that is seen.
func (l *life) counts() (c gate.Counts) {
	if l.server != nil {
		c = plugin.CountsOf(l.server.Counts())
	}
	return c
}
