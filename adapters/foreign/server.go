package foreign

import "github.com/lockproof/lockproof/model/scenario"

// connect opens the server that a runner is to have.
func (s *Runner) connect() (err error) {
	s.runs, s.since, s.lenience = 0, 0, s.config.Patience
	if s.server, err = s.config.Open(); err == nil {
		s.prefix = s.server.Prefix()
	}
	return err
}

// Crowds reports whether clients of another runner on the same server would be in the way of this one's, whatever locks
// they use. Each server that is ours has clients of one runner.
func (s *Runner) Crowds() bool { return s.server.Crowds() }

// Agreed is on how many replies a real server and the simulated one beside it have agreed.
func (s *Runner) Agreed() int { return s.agreed + s.server.Agreed() }

// playable reports whether something can be made to happen: time passes on a server that is ours alone, and where clients share
// a connection what befalls one befalls all.
func (s *Runner) playable(do scenario.ActionKind) bool {
	switch do {
	case scenario.Step, scenario.Advance, scenario.Detect:
		return true
	case scenario.Idle:
		return s.server.Ours()
	}
	return !s.Sharing() && s.server.Plays(do)
}

// deleteAll ends everybody, and has new clients begin with a new server: what is known of this one may be wrong.
func (s *Runner) deleteAll() error {
	s.cutShort = true // nobody is asked to go: that takes its time
	if err := s.shutDown(); err != nil {
		return err
	}
	s.agreed += s.server.Agreed()
	s.cutShort = false
	return s.connect()
}

// clean lets go of the server, with all that this runner has left there.
func (s *Runner) clean() error {
	if s.server == nil {
		return nil
	}
	return s.server.Close()
}
