package foreign

import (
	"errors"
	"sync"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
)

// spare is a client that stands ready for whichever number is next to be replaced, at an address of its own.
type spare struct {
	server *wire.Server
	gate   *gate
	begun  sync.WaitGroup
	client Client // nil where there is none; valid once begun
}

// prepare begins clients until so many stand ready, where that takes time.
func (s *Runner) prepare(n int) {
	starter, ok := s.config.Starter.(Preparer)
	for ok && len(s.spares) < n {
		p := &spare{gate: &gate{runner: s, client: &clientHandle{runner: s}}}
		p.gate.client.host = p.gate.client
		server, err := s.listenFor(p.gate)
		if err != nil {
			return // whoever needs it will see why
		}
		p.server = server
		url, err := s.urlFor(server)
		if err != nil {
			return
		}
		p.begun.Go(func() { p.client, _ = starter.Prepare(s.ctx, url) })
		s.spares = append(s.spares, p)
	}
}

// adopt takes a client that stands ready, with its address; nil where none does.
func (a *clientHandle) adopt() Client {
	s := a.runner
	for len(s.spares) > 0 {
		p := s.spares[0]
		s.spares = s.spares[1:]
		p.begun.Wait()
		s.mu.Lock()
		early := len(p.gate.client.connections) > 0 // it cannot be told any more whose they are
		if p.client != nil && !early {
			p.gate.client = a
		}
		s.mu.Unlock()
		if p.client == nil || early {
			_ = p.end()
			continue
		}
		old := a.server
		a.server = p.server
		_ = old.Close() // whoever was there has ended
		return p.client
	}
	return nil
}

// end ends a client that was not needed.
func (p *spare) end() error {
	p.begun.Wait()
	var err error
	if p.client != nil {
		err = errors.Join(p.client.Kill(), p.client.Close())
	}
	return errors.Join(err, p.server.Close())
}
