package foreign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/foreign/amqp"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/scenario"
)

// broker is what stands behind the gate.
type broker interface {
	wire.Backend
	// Settle shows what it has, as far as that is known: see disagreement.
	Observe(func(wire.State))
	amqp.Closer
	// Advance lets virtual milliseconds pass.
	Advance(ms int64)
	// Restart stops it and starts it again.
	Restart()
	// remove deletes queues that are nobody's exclusively.
	remove(queues []string) error
	// disagreement says why what it shows may be wrong, "" where it is right, and agreed on how many replies that
	// rests, where it takes comparing.
	disagreement() string
	agreed() int
}

// simulatedBroker is the simulated broker, which shows what it has.
type simulatedBroker struct{ *wire.Simulated }

func (b simulatedBroker) remove(queues []string) error {
	for _, q := range queues {
		b.Delete(q)
	}
	return nil
}

func (b simulatedBroker) disagreement() string { return "" }
func (b simulatedBroker) agreed() int          { return 0 }

// realBroker is a real RabbitMQ, which others may use at the same time.
type realBroker struct {
	*wire.Mirror
	sweep    func(queues []string) error
	notes    Notes
	declared *Declared
}

// Advance does nothing: its time passes by itself.
func (b realBroker) Advance(int64) {}

// Restart is not ours to do.
func (b realBroker) Restart() {}

func (b realBroker) remove(queues []string) error {
	if len(queues) > 0 && b.sweep != nil {
		for _, q := range queues {
			b.Forget(q)
		}
		if err := b.sweep(queues); err != nil {
			return err
		}
	}
	b.settle()
	return nil
}

// settle takes back the notes of queues that clients have deleted themselves, where it is known which there are.
func (b realBroker) settle() {
	if b.notes == nil || b.Disagreement() != "" {
		return
	}
	b.Observe(func(v wire.State) { b.notes.Forget(b.declared.Gone(v.Exists)) })
}

func (b realBroker) disagreement() string { return b.Disagreement() }
func (b realBroker) agreed() int          { return b.Agreed() }

// connect finds the broker that a runner is to have, and what names begin with on it.
func (s *Runner) connect() error {
	s.runs, s.lenience = 0, s.config.Patience
	if s.config.URL == "" {
		s.broker = simulatedBroker{wire.NewSimulated(wire.SimulatedOptions{})}
		return nil
	}
	proxy, err := wire.ProxyTo(s.config.URL)
	if err != nil {
		return err
	}
	real := realBroker{sweep: s.config.Sweep, notes: s.config.Notes, declared: new(Declared)}
	if real.notes != nil {
		proxy.Declaring = func(queue, exchange string) {
			real.declared.Take(queue)
			real.notes.Note(queue, exchange)
		}
	}
	real.Mirror = wire.NewMirror(proxy, s.config.Version)
	if s.prefix, s.broker = stress.Prefix(), real; real.notes != nil {
		s.prefix = real.notes.Prefix()
	}
	return nil
}

// Crowds reports whether clients of another runner on the same broker would be in the way of this one's, whatever locks
// they use. They would if they declare queues whose names have nothing to do with a lock's. Each simulated broker has
// clients of one runner.
func (s *Runner) Crowds() bool {
	b, real := s.broker.(realBroker)
	return real && slices.ContainsFunc(b.declared.Queues(), func(q string) bool { return !strings.Contains(q, s.prefix) })
}

// real reports whether the broker is a real one.
func (s *Runner) real() bool { return s.config.URL != "" }

// Agreed is on how many replies a real broker and the simulated one have agreed.
func (s *Runner) Agreed() int { return s.agreed + s.broker.agreed() }

// playable reports whether something can be made to happen: a real broker is not restarted, and where clients
// share a connection what befalls one befalls all.
func (s *Runner) playable(do scenario.ActionKind) bool {
	switch do {
	case scenario.Step, scenario.Advance, scenario.Detect:
		return true
	case scenario.Restart:
		return !s.real() && !s.Sharing()
	case scenario.Idle: // no time passes for a real broker but its own
		return !s.real()
	}
	return !s.Sharing()
}

// deleteAll ends everybody, and has new clients begin with a new broker: what is known of this one may be wrong.
func (s *Runner) deleteAll() error {
	s.cutShort = true // nobody is asked to go: that takes its time
	if err := s.shutDown(); err != nil {
		return err
	}
	s.agreed += s.broker.agreed()
	s.cutShort = false
	return s.connect()
}

// urlFor is where a client finds the broker.
func (s *Runner) urlFor(server *wire.Server) (string, error) {
	if s.real() {
		return server.URLFor(s.config.URL)
	}
	return server.URL(), nil
}

// clean deletes all that this runner has left on a broker that others use as well.
func (s *Runner) clean() error {
	if !s.real() || s.broker == nil {
		return nil
	}
	left, _ := s.left(nil)
	if err := s.broker.remove(left); err != nil {
		return fmt.Errorf("clearing the broker: %w", err)
	}
	return nil
}

// there are the queues that clients have made, all that the broker is known to have.
func (s *Runner) there() map[string]bool {
	all := make(map[string]bool)
	s.broker.Observe(func(v wire.State) {
		for name := range v.Queues() {
			all[name] = true
		}
	})
	return all
}

// left are the queues that there were not before, in order, and the connections that have them exclusively,
// nil where nobody does.
func (s *Runner) left(before map[string]bool) (names []string, owners map[string]*wire.Conn) {
	owners = make(map[string]*wire.Conn)
	s.broker.Observe(func(v wire.State) {
		for name := range v.Queues() {
			if !before[name] {
				names = append(names, name)
				owners[name] = v.Owner(name)
			}
		}
	})
	slices.Sort(names)
	return names, owners
}
