package search

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// A checkpoint of a search for any number of clients is written between two rounds: magic, version, the configuration
// as JSON, the caller's note and how far the search is as JSON, each after its length; then parts, views, roles,
// effects, contexts with their steps, and the contexts that are to be looked at; and the SHA-256 of all that.
const (
	anyMagic   = "lockproof views\n"
	anyVersion = 2
)

var errNoViews = errors.New("not a checkpoint of a search for any number of clients: give the file that was written by one")

// anyConfiguration is what such a checkpoint belongs to.
type anyConfiguration struct {
	configuration
	Any          []scenario.Client
	Slots        int
	Whole, Named bool
}

func (s *anySearch) configuration() anyConfiguration {
	b := s.bounds
	b.Clients, b.Forever = s.bounds.Clients[:s.fixed], false // as all are
	return anyConfiguration{configurationOf(&b), s.bounds.Clients[s.fixed:], s.slots, s.whole, s.named}
}

// anyProgress is how far a search is.
type anyProgress struct {
	Rounds      int
	Unwitnessed int64
	Found       [property.Count][]uint32 // the contexts in which a step violates it
	Covered     covered
}

func (s *anySearch) progress() anyProgress {
	p := anyProgress{Rounds: s.res.Rounds, Unwitnessed: s.unwitnessed.Load()}
	for _, w := range s.workers {
		s.res.Coverage.Merge(&w.cover)
	}
	p.Covered = s.res.Coverage.plain()
	for _, g := range s.contexts.list {
		for i, in := range s.found {
			if in[g] {
				p.Found[i] = append(p.Found[i], g.id)
			}
		}
	}
	return p
}

// due reports whether it is time for a checkpoint.
func (s *anySearch) due() bool {
	return s.opts.Checkpoint != "" && s.opts.Every > 0 && time.Since(s.saved) >= s.opts.Every
}

// save writes a checkpoint. One that cannot be written does not end the search.
func (s *anySearch) save() {
	s.res.Unsaved = s.write(s.opts.Checkpoint, s.opts.Note)
	s.saved = time.Now()
}

// Save leaves the search in a file, with a note of the caller's, so that [AnyOptions].Resume goes on from there; where
// its views are closed, that comes to the same result at once.
func (r *AnyResult) Save(path string, note []byte) error { return r.search.write(path, note) }

func (s *anySearch) write(path string, note []byte) error {
	if err := outfile.Write(path, func(out io.Writer) error { return s.encode(out, note) }); err != nil {
		return fmt.Errorf("the checkpoint %w", err)
	}
	return nil
}

func (s *anySearch) encode(out io.Writer, note []byte) error {
	e := newEncoder(out)
	e.bytes([]byte(anyMagic))
	e.u32(anyVersion)
	e.json(s.configuration())
	e.blob(note)
	e.json(s.progress())
	s.shared.save(e)
	s.clients.save(e)
	s.views.save(e)
	s.roles.save(e)
	s.effects.save(e)
	s.contexts.save(e)
	e.u32(uint32(len(s.dirty)))
	for _, g := range s.dirty {
		e.u32(g.id)
	}
	return e.close()
}

// AnyNote is the note that a checkpoint was written with.
func AnyNote(path string) (note []byte, err error) {
	err = opened(path, anyMagic, errNoViews, func(d *decoder) error {
		if err := version(d, anyVersion); err != nil {
			return err
		}
		d.blob() // the configuration
		note = d.blob()
		return d.err
	})
	return note, err
}

// resume goes on from a checkpoint.
func (s *anySearch) resume(path string) error {
	return opened(path, anyMagic, errNoViews, s.decode)
}

func (s *anySearch) decode(d *decoder) error {
	if err := s.sameAs(d); err != nil {
		return err
	}
	d.blob() // the note
	var p anyProgress
	if err := d.json(&p); err != nil {
		return err
	}
	s.shared.restore(d)
	s.clients.restore(d)
	s.views.restore(d)
	s.roles.restore(d, s.views)
	if d.err == nil && !s.consistent() {
		return errDamaged
	}
	s.effects.restore(d, s.anyPlan)
	s.readContexts(d)
	for n := d.fits(uint64(d.u32()), 4); n > 0 && d.err == nil; n-- {
		if g := s.contexts.at(d); g != nil {
			s.dirty = append(s.dirty, g)
		}
	}
	if d.left != 0 {
		d.damaged()
	}
	if d.err != nil {
		return d.err
	}
	return s.adopt(&p)
}

// sameAs reports an error if the checkpoint is not this search's.
func (s *anySearch) sameAs(d *decoder) error {
	if err := version(d, anyVersion); err != nil {
		return err
	}
	here, there, err := bothConfigurations(s.configuration(), d)
	if err != nil {
		return err
	}
	return differing(here, there)
}

// adopt goes on with the numbers of the search that was interrupted.
func (s *anySearch) adopt(p *anyProgress) error {
	s.res.Rounds = p.Rounds
	s.unwitnessed.Store(p.Unwitnessed)
	s.res.Coverage.Merge(p.Covered.coverage())
	for i, ids := range p.Found {
		for _, id := range ids {
			if int(id) >= len(s.contexts.list) {
				return errDamaged
			}
			s.violated(1<<i, s.contexts.list[id])
		}
	}
	return s.familiar()
}

// familiar reports an error if the initial context is not among those read: parts are written otherwise by another
// version of the program. What everybody shares is in no context then that there is, and a new one is to be looked at.
func (s *anySearch) familiar() error {
	n := s.clients.count()
	w := s.workers[0]
	w.begin()
	if s.clients.count() != n || len(w.dirty) > 0 {
		return errOtherwise
	}
	return nil
}
