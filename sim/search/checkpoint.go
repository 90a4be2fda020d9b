package search

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// A checkpoint is a search between two blocks of states: magic, version, the configuration and how far
// it is as JSON, each after its length; then parts, views, blocks and the states seen; and the SHA-256
// of all that. Numbers are little-endian. What the workers have looked up is worked out again.
const (
	checkpointMagic   = "lockproof search\n"
	checkpointVersion = 3
)

// configuration is what a checkpoint belongs to: whoever goes on must search the same.
type configuration struct {
	Target        string
	Options       lock.Options
	Locks         []scenario.Lock
	Clients       []scenario.Client
	Before        []scenario.Action `json:",omitempty"`
	Faults        sim.FaultBounds
	Properties    []string
	Own           []string               `json:",omitempty"` // users' own properties, by name
	Forever       bool                   `json:",omitempty"`
	Every         bool                   `json:",omitempty"`
	FailedAcquire property.FailedAcquire `json:"Strength"` // the name in the files of earlier versions
	Reductions    Reductions
	Storage       Storage
	Array         int64
	Hashes        int
	// Unmemoised says that nothing is looked up. That turns out on the way: whoever goes on follows.
	Unmemoised bool `json:"Outright"` // the name in the files of earlier versions
}

func (s *search) configuration() configuration {
	c := configurationOf(&s.bounds)
	c.Reductions, c.Storage, c.Unmemoised = s.opts.Reductions.For(&s.bounds), s.opts.Storage, s.opts.unmemoised
	if a, ok := s.seen.(*bitArray); ok {
		c.Array, c.Hashes = a.size(), a.hashes
	}
	return c
}

// configurationOf is what bounds say of it.
func configurationOf(b *sim.Bounds) configuration {
	c := configuration{
		Target: b.Target.Name, Options: b.Options, Locks: b.Locks, Clients: b.Clients, Before: b.Before, Faults: b.Faults, FailedAcquire: b.FailedAcquire,
		Forever: b.Forever, Every: b.Every,
	}
	for _, p := range b.Own {
		c.Own = append(c.Own, p.Name)
	}
	for p := range property.Count {
		if b.Properties.Has(p) {
			c.Properties = append(c.Properties, p.String())
		}
	}
	return c
}

// progress is how far a search is.
type progress struct {
	Stats   Stats
	Found   property.Set
	At      [property.Most]int
	Covered covered
	Lookups float64 // see search.lookups
}

// covered is [Coverage] without maps, of which the keys could not be written.
type covered struct {
	Exercised property.Set
	Results   []Ending
	Replies   []Answer
	Actions   []bool
}

func (s *search) progress() progress {
	for _, w := range s.workers {
		s.res.Coverage.Merge(&w.cover)
	}
	p := progress{Stats: s.res.Stats, Found: s.res.Found, At: s.res.At, Lookups: s.lookups(), Covered: s.res.Coverage.plain()}
	p.Stats.QueueBytes = s.queueMost.Load()
	return p
}

// plain is the coverage as it is written, in an order that is always the same.
func (c *Coverage) plain() covered {
	out := covered{Exercised: c.Exercised, Actions: c.Actions[:]}
	for e := range c.Results {
		out.Results = append(out.Results, e)
	}
	for a := range c.Replies {
		out.Replies = append(out.Replies, a)
	}
	slices.SortFunc(out.Results, func(a, b Ending) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	slices.SortFunc(out.Replies, func(a, b Answer) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return out
}

// coverage is the coverage that was written.
func (c *covered) coverage() *Coverage {
	out := &Coverage{Exercised: c.Exercised, Results: make(map[Ending]bool), Replies: make(map[Answer]bool)}
	copy(out.Actions[:], c.Actions)
	for _, e := range c.Results {
		out.Results[e] = true
	}
	for _, a := range c.Replies {
		out.Replies[a] = true
	}
	return out
}

// due reports whether it is time for a checkpoint.
func (s *search) due() bool {
	return s.opts.Checkpoint != "" && s.opts.Every > 0 && time.Since(s.saved) >= s.opts.Every
}

// save writes a checkpoint. One that cannot be written does not end the search.
func (s *search) save() {
	s.res.Err = s.write(s.opts.Checkpoint)
	s.saved = time.Now()
}

// write writes the checkpoint, so that at no moment there is half of one.
func (s *search) write(path string) error {
	if err := outfile.Write(path, s.encode); err != nil {
		return fmt.Errorf("the checkpoint %w", err)
	}
	return nil
}

// encode writes the checkpoint.
func (s *search) encode(out io.Writer) error {
	e := newEncoder(out)
	e.bytes([]byte(checkpointMagic))
	e.u32(checkpointVersion)
	e.json(s.configuration())
	e.json(s.progress())
	s.shared.save(e)
	s.clients.save(e)
	if s.views != nil {
		s.views.save(e)
	}
	s.links().save(e)
	writeBlocks(e, s.level, s.stride)
	writeBlocks(e, s.out, s.stride)
	s.seen.save(e)
	return e.close()
}
