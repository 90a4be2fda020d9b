package search

import (
	"encoding/json"
	"errors"
)

var errNoCheckpoint = errors.New("not a checkpoint of a search: give the file that was written by one")

// resume goes on from a checkpoint.
func (s *search) resume(path string) error {
	return opened(path, checkpointMagic, errNoCheckpoint, s.decode)
}

func (s *search) decode(d *decoder) error {
	if err := s.sameAs(d); err != nil {
		return err
	}
	var p progress
	if err := d.json(&p); err != nil {
		return err
	}
	s.shared.restore(d)
	s.clients.restore(d)
	if s.views != nil {
		s.views.restore(d)
	}
	s.linked = readLinks(d, s.plan)
	s.level, s.out = s.readBlocks(d), s.readBlocks(d)
	s.seen.restore(d)
	s.queued = states(s.level, s.stride) + states(s.out, s.stride)
	if d.left != 0 || s.seen.count() != p.Stats.Expanded+s.queued {
		d.damaged()
	}
	if d.err != nil {
		return d.err
	}
	s.adopt(&p)
	return s.familiar()
}

// sameAs reports an error if the checkpoint is not this search's. What turned out on the way is taken over.
func (s *search) sameAs(d *decoder) error {
	if err := version(d, checkpointVersion); err != nil {
		return err
	}
	here, there, err := bothConfigurations(s.configuration(), d)
	if err != nil {
		return err
	}
	if json.Unmarshal(there["Outright"], &s.opts.unmemoised) != nil {
		return errDamaged
	}
	s.slow(s.opts.unmemoised)
	delete(here, "Outright")
	return differing(here, there)
}

// adopt goes on with the numbers of the search that was interrupted.
func (s *search) adopt(p *progress) {
	s.res.Stats, s.res.Found, s.earlier = p.Stats, p.Found, p.Lookups
	s.res.At = p.At
	s.res.Coverage.Merge(p.Covered.coverage())
	s.queueBytes.Store(blockBytes(s.level) + blockBytes(s.out))
	s.queueMost.Store(p.Stats.QueueBytes)
}

// familiar reports an error if the initial state is not among those read: parts are written otherwise
// by another version of the program.
func (s *search) familiar() error {
	n, m := s.shared.count(), s.clients.count()
	s.workers[0].initial()
	if s.shared.count() != n || s.clients.count() != m {
		return errOtherwise
	}
	return nil
}
