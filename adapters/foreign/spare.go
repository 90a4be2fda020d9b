package foreign

import (
	"errors"
	"sync"

	"github.com/lockproof/lockproof/adapters/gate"
)

// spare is a client that stands ready for whichever number is next to be replaced, at an address of its own.
type spare struct {
	address gate.Address
	door    *door
	begun   sync.WaitGroup
	client  Client // nil where there is none; valid once begun
}

// prepare begins clients until so many stand ready, where that takes time.
func (s *Runner) prepare(n int) {
	starter, ok := s.config.Starter.(Preparer)
	for ok && len(s.spares) < n {
		p := &spare{door: &door{runner: s, client: &clientHandle{runner: s}}}
		p.door.client.host = p.door.client
		address, err := s.listenFor(p.door)
		if err != nil {
			return // whoever needs it will see why
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

// adopt takes a client that stands ready, with its address; nil where none does.
func (a *clientHandle) adopt() Client {
	s := a.runner
	for len(s.spares) > 0 {
		p := s.spares[0]
		s.spares = s.spares[1:]
		p.begun.Wait()
		s.mu.Lock()
		early := len(p.door.client.connections) > 0 // it cannot be told any more whose they are
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
	return errors.Join(err, p.address.Close())
}
