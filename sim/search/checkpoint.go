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
	"github.com/lockproof/lockproof/sim/search/states"
)

// A checkpoint is a search saved between two blocks of states. The file begins with the magic and the version. The
// configuration and the progress follow as JSON, each after its length. Then come parts, views, links, idle steps,
// blocks and the seen states. The SHA-256 of everything ends the file. Numbers are little-endian. Memo tables are not
// saved.
const (
	checkpointMagic   = "lockproof search\n"
	checkpointVersion = 4
)

// Configuration identifies the search that a checkpoint belongs to. Only a search with an equal configuration may
// resume it.
type Configuration struct {
	Target        string
	Options       lock.Options
	Locks         []scenario.Lock
	Clients       []scenario.Client
	Before        []scenario.Action `json:",omitempty"`
	Faults        sim.FaultBounds
	Properties    []string
	Own           []string               `json:",omitempty"` // the names of custom properties
	Forever       bool                   `json:",omitempty"`
	Every         bool                   `json:",omitempty"`
	FailedAcquire property.FailedAcquire `json:"Strength"` // the name in the files of earlier versions
	Reductions    Reductions
	Storage       Storage
	Array         int64
	Hashes        int
	// Unmemoised says that the search uses no memo tables. A search can find out while it runs that time matters and
	// that it cannot use memo tables. A resumed search takes the value from the checkpoint.
	Unmemoised bool `json:"Outright"` // the name in the files of earlier versions
}

func (s *search) configuration() Configuration {
	c := ConfigurationOf(&s.bounds)
	c.Reductions, c.Storage, c.Unmemoised = s.opts.Reductions.For(&s.bounds), s.opts.Storage, s.opts.unmemoised
	if a, ok := s.seen.(*bitArray); ok {
		c.Array, c.Hashes = a.size(), a.hashes
	}
	return c
}

// ConfigurationOf returns the configuration of a search with bounds b. The caller sets the reductions and the storage.
func ConfigurationOf(b *sim.Bounds) Configuration {
	c := Configuration{
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

// progress has the results and statistics of a search up to a checkpoint.
type progress struct {
	Stats   Stats
	Found   property.Set
	At      [property.Most]int
	Covered Covered
	Lookups float64 // probability that memo tables missed a state so far, see search.lookups
}

// Covered is [Coverage] with slices instead of maps, since JSON cannot encode these maps' keys.
type Covered struct {
	Exercised property.Set
	Results   []Ending
	Replies   []Answer
	Actions   []bool
}

func (s *search) progress() progress {
	for _, w := range s.workers {
		s.res.Coverage.Merge(&w.cover)
	}
	p := progress{Stats: s.res.Stats, Found: s.res.Found, At: s.res.At, Lookups: s.lookups(), Covered: s.res.Coverage.Plain()}
	p.Stats.QueueBytes = s.queueMost.Load()
	return p
}

// Plain returns the coverage in the form that a checkpoint stores. Results and replies are sorted, so that equal
// coverage has equal bytes.
func (c *Coverage) Plain() Covered {
	out := Covered{Exercised: c.Exercised, Actions: c.Actions[:]}
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

// Take sets the coverage to the saved one, which was read from a checkpoint.
func (c *Coverage) Take(of *Covered) {
	c.Exercised, c.Results, c.Replies = of.Exercised, make(map[Ending]bool), make(map[Answer]bool)
	copy(c.Actions[:], of.Actions)
	for _, e := range of.Results {
		c.Results[e] = true
	}
	for _, a := range of.Replies {
		c.Replies[a] = true
	}
}

// due reports whether the interval between two checkpoints has passed.
func (s *search) due() bool {
	return s.opts.Checkpoint != "" && s.opts.Every > 0 && time.Since(s.saved) >= s.opts.Every
}

// save writes a checkpoint. If writing fails, the result has the error, and the search continues.
func (s *search) save() {
	s.res.Err = s.write(s.opts.Checkpoint)
	s.saved = time.Now()
}

// write replaces the checkpoint file atomically: the file is never incomplete.
func (s *search) write(path string) error {
	if err := outfile.Write(path, s.encode); err != nil {
		return fmt.Errorf("the checkpoint %w", err)
	}
	return nil
}

// encode writes the checkpoint to out.
func (s *search) encode(out io.Writer) error {
	e := states.NewEncoder(out)
	e.Bytes([]byte(checkpointMagic))
	e.U32(checkpointVersion)
	e.JSON(s.configuration())
	e.JSON(s.progress())
	s.shared.Save(e)
	s.clients.Save(e)
	if s.views != nil {
		s.views.Save(e)
	}
	s.links().save(e)
	s.idle().save(e)
	writeBlocks(e, s.level, s.stride)
	writeBlocks(e, s.out, s.stride)
	s.seen.save(e)
	return e.Close()
}
