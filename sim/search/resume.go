package search

import (
	"encoding/json"
	"errors"

	"github.com/lockproof/lockproof/sim/search/states"
)

var errNoCheckpoint = errors.New("not a checkpoint of a search: give the file that was written by one")

// resume sets the search to the state in a checkpoint file.
func (s *search) resume(path string) error {
	return states.Open(path, checkpointMagic, errNoCheckpoint, s.decode)
}

func (s *search) decode(d *states.Decoder) error {
	if err := s.sameAs(d); err != nil {
		return err
	}
	var p progress
	if err := d.JSON(&p); err != nil {
		return err
	}
	s.shared.Restore(d)
	s.clients.Restore(d)
	if s.views != nil {
		s.views.Restore(d)
	}
	s.linked, s.idled = readLinks(d, s.plan), readIdle(d)
	s.level, s.out = s.readBlocks(d), s.readBlocks(d)
	s.seen.restore(d)
	s.queued = countStates(s.level, s.stride) + countStates(s.out, s.stride)
	if d.Left != 0 || s.seen.count() != p.Stats.Expanded+s.queued {
		d.Damaged()
	}
	if d.Err != nil {
		return d.Err
	}
	s.adopt(&p)
	return s.familiar()
}

// sameAs returns an error if the checkpoint belongs to a search with another configuration. Whether the resumed search
// uses memo tables is taken from the checkpoint.
func (s *search) sameAs(d *states.Decoder) error {
	if err := states.CheckVersion(d, checkpointVersion); err != nil {
		return err
	}
	here, there, err := states.Configurations(s.configuration(), d)
	if err != nil {
		return err
	}
	if json.Unmarshal(there["Outright"], &s.opts.unmemoised) != nil {
		return states.ErrDamaged
	}
	s.slow(s.opts.unmemoised)
	delete(here, "Outright")
	return states.Differing(here, there)
}

// adopt sets the statistics and results to those of the interrupted search.
func (s *search) adopt(p *progress) {
	s.res.Stats, s.res.Found, s.earlier = p.Stats, p.Found, p.Lookups
	s.res.At = p.At
	s.res.Coverage.Take(&p.Covered)
	s.queueBytes.Store(blockBytes(s.level) + blockBytes(s.out))
	s.queueMost.Store(p.Stats.QueueBytes)
}

// familiar returns an error if the parts of the initial state are not among the parts of the checkpoint. Another
// version of the program, which encodes parts differently, then wrote the checkpoint.
func (s *search) familiar() error {
	n, m := s.shared.Len(), s.clients.Len()
	s.workers[0].initial()
	if s.shared.Len() != n || s.clients.Len() != m {
		return states.ErrOtherwise
	}
	return nil
}
