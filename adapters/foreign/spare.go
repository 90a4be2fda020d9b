package foreign

import (
	"errors"
	"sync"

	"github.com/lockproof/lockproof/adapters/gate"
)

// spare is a client that was started in advance, with its own address. It replaces the next client that crashes.
type spare struct {
	address gate.Address
	door    *door
	begun   sync.WaitGroup
	client  Client // nil if it could not be started; valid once begun is done
}

// prepare starts clients in advance until there are n spares, if the starter is a [Preparer].
func (s *Runner) prepare(n int) {
	starter, ok := s.config.Starter.(Preparer)
	for ok && len(s.spares) < n {
		p := &spare{door: &door{runner: s, client: &clientHandle{runner: s}}}
		p.door.client.host = p.door.client
		address, err := s.listenFor(p.door)
		if err != nil {
			return // the error will show when a client is started
		}
		p.address = address
		urls, err := address.URLs()
		if err != nil {
			return
		}
		p.begun.Go(func() { p.client, _ = starter.Prepare(s.ctx, Setup{URLs: urls, OurTime: s.ourTime()}) })
		s.spares = append(s.spares, p)
	}
}

// adopt takes a spare client with its address; nil if there is none.
func (a *clientHandle) adopt() Client {
	s := a.runner
	for len(s.spares) > 0 {
		p := s.spares[0]
		s.spares = s.spares[1:]
		p.begun.Wait()
		s.mu.Lock()
		early := len(p.door.client.connections) > 0 // it has connected already, so its connections have no owner
		if p.client != nil && !early {
			p.door.client = a
		}
		s.mu.Unlock()
		if p.client == nil || early {
			_ = p.end()
			continue
		}
		old := a.address
		a.address = p.address
		_ = old.Close() // the previous client has ended, so errors do not matter
		return p.client
	}
	return nil
}

// end ends a spare client that is not used.
func (p *spare) end() error {
	p.begun.Wait()
	var err error
	if p.client != nil {
		err = errors.Join(p.client.Kill(), p.client.Close())
	}
	return errors.Join(err, p.address.Close())
}
