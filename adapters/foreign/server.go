package foreign

import (
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// connect opens the runner's server.
func (s *Runner) connect() (err error) {
	s.runs, s.since, s.lenience = 0, 0, s.config.Patience
	if s.server, err = s.config.Open(); err == nil {
		s.prefix = s.server.Prefix()
	}
	return err
}

// Traits are the traits of the lock on the runner's server.
func (s *Runner) Traits() lock.Traits {
	t := s.about.Traits()
	if s.session() > 0 {
		t |= lock.Sessions
	}
	return t
}

// session is the maximum number of virtual milliseconds after which the server ends the session of a client that it
// does not hear of; 0 if the server has no sessions of this kind.
func (s *Runner) session() int64 {
	if server, ok := s.server.(gate.Sessional); ok {
		return server.LongestSession()
	}
	return 0
}

// Crowds reports whether another runner's clients on the same server could disturb this runner's clients, even with
// other locks. It is false for a server that the runner starts itself.
func (s *Runner) Crowds() bool { return s.server.Crowds() }

// Agreed is the number of replies in which a real server and the simulated one agreed.
func (s *Runner) Agreed() int { return s.agreed + s.server.Agreed() }

// playable reports whether a fault can be carried out. Time can pass only on servers with virtual time. If clients
// share a connection, faults of a single client are impossible.
func (s *Runner) playable(do scenario.ActionKind) bool {
	switch do {
	case scenario.Step, scenario.Advance, scenario.Detect:
		return true
	case scenario.Idle:
		return s.server.Ours()
	}
	return !s.Sharing() && s.server.Plays(do)
}

// deleteAll ends all clients and closes the server. The next clients start with a new server, as the state of this one
// may be unknown.
func (s *Runner) deleteAll() error {
	s.cutShort = true // so that clients are killed, which is faster than closing them
	if err := s.shutDown(); err != nil {
		return err
	}
	s.agreed += s.server.Agreed()
	s.cutShort = false
	return s.connect()
}

// clean closes the server. It also removes what this runner has left on a server that others use.
func (s *Runner) clean() error {
	if s.server == nil {
		return nil
	}
	return s.server.Close()
}
