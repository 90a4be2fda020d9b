package campaign

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// A guided campaign has generations of shards. All shards of the first generation cover the whole space. In later
// generations, a share of the shards covers narrower spaces. A narrower space with many new points of coverage in the
// last generation gets many of these shards. A point is a pair of commands of different clients, or a state of the
// broker. A narrower space has a fixed number of clients, a fixed number of administrators, one strategy, and its own
// seed, so that `lockproof prove` repeats its scenarios.

// guide chooses the shards of a guided campaign.
type guide struct {
	share   float64 // share of the executions that go to narrower spaces
	size    int     // number of shards in a generation
	spaces  []space
	covered map[sim.Point]bool
	fresh   []int // by index of the space: number of points first covered in the last generation
	all     []int // by index of the space: number of points first covered in all generations
	given   int   // number of shards chosen so far
	guided  int   // number of chosen shards that belong to narrower spaces
}

// space is a narrower part of the campaign's space.
type space struct {
	clients, admins int
	strategy        scenario.Strategy
	drawn           sample.Drawn
	next            int // number of the space's next scenario
}

const (
	generation    = 32  // default number of shards in a generation
	mostGuided    = 0.9 // maximum of share; the other executions show which spaces are worthwhile
	guidedClients = 4
	guidedAdmins  = 2
)

// newGuide returns a guide for a campaign over scenarios.
func newGuide(s *Sample, c sample.Config) (*guide, error) {
	if s.Guided < 0 || s.Guided > mostGuided {
		return nil, fmt.Errorf("sample: guided %v: expected a share of the executions, 0 to %v", s.Guided, mostGuided)
	}
	if s.Generation < 0 || s.Generation > 0 && s.Guided == 0 {
		return nil, fmt.Errorf("sample: generation %d: expected at least 1, with guided", s.Generation)
	}
	g := &guide{share: s.Guided, size: cmp.Or(s.Generation, generation), covered: make(map[sim.Point]bool)}
	if g.share == 0 {
		return g, nil
	}
	strategies := c.Strategies
	if len(strategies) == 0 {
		strategies = []scenario.Strategy{scenario.Random, scenario.PCT}
	}
	for _, clients := range values(s.Clients, 2, guidedClients) {
		for _, admins := range values(s.Admins, 0, guidedAdmins) {
			for _, strategy := range strategies {
				g.add(c, space{clients: clients, admins: admins, strategy: strategy})
			}
		}
	}
	g.fresh, g.all = make([]int, len(g.spaces)), make([]int, len(g.spaces))
	return g, nil
}

// values returns the possible values of a number: only *fixed, or all numbers in [from, to] if fixed is nil.
func values(fixed *int, from, to int) (out []int) {
	if fixed != nil {
		return []int{*fixed}
	}
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}

// add adds the narrower space s, unless the target cannot have it: a mutex, for example, has no administrators. It
// draws from the configuration c, with a seed of its own.
func (g *guide) add(c sample.Config, s space) {
	if c.Target.Kind == lock.Mutex && s.admins > 0 {
		return
	}
	c.Shape.Clients, c.Strategies = &s.clients, []scenario.Strategy{s.strategy}
	if c.Target.Kind != lock.Mutex {
		c.Shape.Admins = &s.admins
	}
	c.Depth = depthFor(s.strategy, c.Depth)
	h := fnv.New32a()
	fmt.Fprintf(h, "%d %d %d %v", c.Seed, s.clients, s.admins, s.strategy)
	c.Seed = uint64(h.Sum32())
	if c.Shape.Check(c.Target.Kind) != nil {
		return
	}
	s.drawn = sample.Drawn{Config: c, Part: new(sample.Part)}
	g.spaces = append(g.spaces, s)
}

// depthFor returns the depth for the strategy PCT, and 0 for other strategies.
func depthFor(s scenario.Strategy, depth int) int {
	if s == scenario.PCT {
		return depth
	}
	return 0
}

// cover adds the coverage of a shard, and reports whether any point is new. of is the number of the shard's narrower
// space, from 1; 0 is the whole space. scenario returns the drawn scenarios of the whole space.
func (g *guide) cover(part *sample.Part, of int, scenario func(int) scenario.Scenario) (any bool) {
	for point, first := range part.Covered() {
		if g.covered[point] {
			continue
		}
		g.covered[point], any = true, true
		at := of - 1
		if of == 0 && g.share > 0 {
			sc := scenario(first - 1)
			at = g.spaceOf(&sc)
		}
		if at >= 0 {
			g.fresh[at]++
			g.all[at]++
		}
	}
	return any
}

// spaceOf returns the index of the narrower space to which a scenario belongs; -1 if there is none.
func (g *guide) spaceOf(sc *scenario.Scenario) int {
	admins := 0
	for _, c := range sc.Clients {
		if len(c.Ops) > 0 && !slices.Contains([]lock.Op{lock.Acquire, lock.Verify, lock.Release}, c.Ops[0].Op) {
			admins++
		}
	}
	return slices.IndexFunc(g.spaces, func(s space) bool {
		return s.clients == len(sc.Clients)-admins && s.admins == admins && s.strategy == sc.Schedule.Strategy
	})
}

// allot returns how many of the next n shards belong to each narrower space. The others belong to the whole space.
func (g *guide) allot(n int) []int {
	guided := min(n-1, int(g.share*float64(g.given+n))-g.guided)
	weights := g.fresh
	if sum(weights) == 0 {
		weights = g.all
	}
	out := make([]int, len(g.spaces))
	if total := sum(weights); total > 0 && guided > 0 {
		left := guided
		for i, w := range weights {
			out[i] = guided * w / total
			left -= out[i]
		}
		for _, i := range byRemainder(weights, guided, total)[:left] {
			out[i]++
		}
		g.guided += guided
	}
	g.given += n
	clear(g.fresh)
	return out
}

// byRemainder returns the indexes of the spaces in the order in which they get the shards that rounding has left over.
func byRemainder(weights []int, n, total int) []int {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(n*weights[b]%total, n*weights[a]%total) })
	return order
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// drawn returns the results of the narrower spaces that have executions.
func (g *guide) drawn() (out []sample.Drawn) {
	for i := range g.spaces {
		if g.spaces[i].drawn.Part.Scenarios() > 0 {
			out = append(out, g.spaces[i].drawn)
		}
	}
	return out
}

// said returns the lines of the report about narrower spaces. total is the number of executions.
func (g *guide) said(total int) (out []string) {
	n := 0
	for i := range g.spaces {
		s := &g.spaces[i]
		if drawn := s.drawn.Part.Scenarios(); drawn > 0 {
			n += drawn
			what := []string{plural(s.clients, "client")}
			if s.admins > 0 {
				what = append(what, plural(s.admins, "administrator"))
			}
			out = append(out, fmt.Sprintf("%d of %s by %s, seed %d", drawn, strings.Join(what, ", "), s.strategy, s.drawn.Config.Seed))
		}
	}
	if n == 0 {
		return nil
	}
	return append([]string{fmt.Sprintf("%d of %d executions went where new coverage came from, the rest were of the whole space", n, total)}, out...)
}

// counts returns the numbers of covered points: pairs of commands, and states.
func (g *guide) counts() []report.Count {
	states := 0
	for point := range g.covered {
		if point.IsState() {
			states++
		}
	}
	return []report.Count{
		{Name: "pairs of commands across clients", Number: len(g.covered) - states}, {Name: "states of the broker", Number: states},
	}
}
