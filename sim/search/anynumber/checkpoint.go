package anynumber

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/search"
	"github.com/lockproof/lockproof/sim/search/states"
)

// A checkpoint of a search for any number of clients is written between two rounds. It begins with the magic and the
// version. The configuration as JSON, the caller's note and the progress as JSON follow, each after its length. Then
// come parts, views, roles, effects, contexts with their steps, and pending contexts. The SHA-256 of everything ends
// the file.
const (
	magic   = "lockproof views\n"
	version = 4
)

var errNoCheckpoint = errors.New("not a checkpoint of a search for any number of clients: give the file that was written by one")

// configuration identifies the search that a checkpoint belongs to. Only a search with an equal configuration may
// resume it.
type configuration struct {
	search.Configuration
	Any          []scenario.Client
	Slots        int
	Whole, Named bool
}

func (s *exploration) configuration() configuration {
	b := s.bounds
	b.Clients, b.Forever = s.bounds.Clients[:s.fixed], false // Forever is set in every such search
	return configuration{search.ConfigurationOf(&b), s.bounds.Clients[s.fixed:], s.slots, s.whole, s.named}
}

// progress has the results and statistics of a search up to a checkpoint.
type progress struct {
	Rounds      int
	Unwitnessed int64
	Beyond      bool                     // a move that makes more slots than the bound was left out
	Found       [property.Count][]uint32 // indexed by property: the contexts in which a step violates it
	Covered     search.Covered
}

func (s *exploration) progress() progress {
	p := progress{Rounds: s.res.Rounds, Unwitnessed: s.unwitnessed.Load(), Beyond: s.beyond()}
	for _, w := range s.workers {
		s.res.Coverage.Merge(&w.cover)
	}
	p.Covered = s.res.Coverage.Plain()
	for _, g := range s.contexts.list {
		for i, in := range s.found {
			if in[g] {
				p.Found[i] = append(p.Found[i], g.id)
			}
		}
	}
	return p
}

// due reports whether the interval between two checkpoints has passed.
func (s *exploration) due() bool {
	return s.opts.Checkpoint != "" && s.opts.Every > 0 && time.Since(s.saved) >= s.opts.Every
}

// save writes a checkpoint. If writing fails, the result has the error (Unsaved), and the search continues.
func (s *exploration) save() {
	s.res.Unsaved = s.write(s.opts.Checkpoint, s.opts.Note)
	s.saved = time.Now()
}

// Save writes the search and the caller's note to a file, from which [Options].Resume can continue. If the search was
// complete, the resumed search returns the same result at once.
func (r *Result) Save(path string, note []byte) error { return r.search.write(path, note) }

func (s *exploration) write(path string, note []byte) error {
	if err := outfile.Write(path, func(out io.Writer) error { return s.encode(out, note) }); err != nil {
		return fmt.Errorf("the checkpoint %w", err)
	}
	return nil
}

func (s *exploration) encode(out io.Writer, note []byte) error {
	e := states.NewEncoder(out)
	e.Bytes([]byte(magic))
	e.U32(version)
	e.JSON(s.configuration())
	e.Blob(note)
	e.JSON(s.progress())
	s.shared.Save(e)
	s.clients.Save(e)
	s.views.Save(e)
	s.roles.save(e)
	s.effects.save(e)
	s.contexts.save(e)
	e.U32(uint32(len(s.dirty)))
	for _, g := range s.dirty {
		e.U32(g.id)
	}
	return e.Close()
}

// Note returns the caller's note that the checkpoint at path contains, see [Result.Save].
func Note(path string) (note []byte, err error) {
	err = states.Open(path, magic, errNoCheckpoint, func(d *states.Decoder) error {
		if err := states.CheckVersion(d, version); err != nil {
			return err
		}
		d.Blob() // skips the configuration
		note = d.Blob()
		return d.Err
	})
	return note, err
}

// resume sets the search to the state in the checkpoint file at path.
func (s *exploration) resume(path string) error {
	return states.Open(path, magic, errNoCheckpoint, s.decode)
}

func (s *exploration) decode(d *states.Decoder) error {
	if err := s.sameAs(d); err != nil {
		return err
	}
	d.Blob() // skips the note
	var p progress
	if err := d.JSON(&p); err != nil {
		return err
	}
	s.shared.Restore(d)
	s.clients.Restore(d)
	s.views.Restore(d)
	s.roles.restore(d, s.views)
	if d.Err == nil && !s.consistent() {
		return states.ErrDamaged
	}
	s.effects.restore(d, s.plan)
	s.readContexts(d)
	for n := d.Fits(uint64(d.U32()), 4); n > 0 && d.Err == nil; n-- {
		if g := s.contexts.at(d); g != nil {
			s.dirty = append(s.dirty, g)
		}
	}
	if d.Left != 0 {
		d.Damaged()
	}
	if d.Err != nil {
		return d.Err
	}
	return s.adopt(&p)
}

// sameAs returns an error if the checkpoint belongs to a search with another configuration.
func (s *exploration) sameAs(d *states.Decoder) error {
	if err := states.CheckVersion(d, version); err != nil {
		return err
	}
	here, there, err := states.Configurations(s.configuration(), d)
	if err != nil {
		return err
	}
	return states.Differing(here, there)
}

// adopt sets the statistics and results to those of the interrupted search.
func (s *exploration) adopt(p *progress) error {
	s.res.Rounds, s.cut = p.Rounds, p.Beyond
	s.unwitnessed.Store(p.Unwitnessed)
	s.res.Coverage.Take(&p.Covered)
	for i, ids := range p.Found {
		for _, id := range ids {
			if int(id) >= len(s.contexts.list) {
				return states.ErrDamaged
			}
			s.violated(1<<i, s.contexts.list[id])
		}
	}
	return s.familiar()
}

// familiar returns an error if the checkpoint lacks the initial context. Another version of the program, which encodes
// parts of states differently, then wrote the checkpoint.
func (s *exploration) familiar() error {
	n := s.clients.Len()
	w := s.workers[0]
	w.begin()
	if s.clients.Len() != n || len(w.dirty) > 0 {
		return states.ErrOtherwise
	}
	return nil
}
