package linear

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

var (
	histories = flag.Int("histories", 4000, "how many random histories the checks are compared on")
	firstSeed = flag.Int("seed", 0, "the seed of the first of them")
)

// oracleSteps is the largest number of steps that porcupine may take over one history in a test.
const oracleSteps = 1 << 16

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatal(...any)
}

// readings are the choices of Options under which tests judge a history.
var readings = []Options{{}, {FailedAcquire: property.Strong}, {Releases: ByAnyone}, {FailedAcquire: property.Strong, Releases: ByAnyone}}

// usurped changes a history so that some releases are called by another client than the holder.
func usurped(c drawn.Chooser, h *history.History) *history.History {
	for range 3 {
		other := *h
		other.Events = slices.Clone(h.Events)
		i := c.Below(len(h.Events) + 1)
		for i < len(h.Events) && (h.Events[i].F != history.F(lock.Release) || h.Events[i].Type != history.Invoke) {
			i++
		}
		process := int32(1 + c.Below(4))
		for k := i; k < len(h.Events); k++ {
			if e := &other.Events[k]; e.Process == h.Events[i].Process {
				if e.Process = process; e.Type != history.Invoke {
					break
				}
			}
		}
		if Validate(&other) == nil {
			h = &other
		}
	}
	return h
}

// decide returns the finding of the fast check and three other decisions: of the search, of porcupine on the simplified
// specification, and of porcupine on the plain specification.
func decide(t failer, c *Checker, h *history.History, o Options) (Finding, []Decision) {
	t.Helper()
	if err := c.normaliser.normalise(h, 0, o); err != nil {
		t.Fatal(err)
	}
	if c.normaliser.inconsistent() {
		return Finding{Why: "inconsistent"}, make([]Decision, 3)
	}
	f := c.fast(o)
	// The specification keeps using the normaliser r, so r is not the normaliser that c uses for other histories.
	r := new(normaliser)
	if err := r.normalise(h, 0, o); err != nil {
		t.Fatal(err)
	}
	p := r.decomposed(o.FailedAcquire)
	plain := byPorcupine(p, [][]porcupine.Operation{p.Operations()})
	p = r.specify(o.FailedAcquire)
	searched, _ := p.Check(oracleSteps)
	return f, []Decision{searched, byPorcupine(p, p.partition(p.Operations())), plain}
}

// byPorcupine runs porcupine on each part, with a bounded number of model steps in total. When they are used up, no
// further step is possible, so that porcupine backtracks and ends.
func byPorcupine(p *Specification, parts [][]porcupine.Operation) Decision {
	model, steps := p.Model(), oracleSteps
	step := model.Step
	model.Partition = nil
	model.Step = func(state, input, output any) (bool, any) {
		if steps == 0 {
			return false, state
		}
		steps--
		return step(state, input, output)
	}
	for _, part := range parts {
		switch ok := porcupine.CheckOperations(model, part); {
		case ok:
		case steps == 0:
			return Undecided
		default:
			return Illegal
		}
	}
	return Legal
}

// disagree reports whether one decision is legal and another is illegal.
func disagree(f Finding, results []Decision) bool {
	results = append(results, f.Decision)
	return slices.Contains(results, Legal) && slices.Contains(results, Illegal)
}

func TestFastCheckAgreesWithPorcupine(t *testing.T) {
	var c Checker
	var counts [3][3]int
	reasons := map[string]int{}
	for i := range *histories {
		seed := uint64(*firstSeed + i)
		choose := drawn.BySeed(seed)
		h := drawn.History(choose, drawn.Any(choose))
		if Validate(h) != nil {
			continue
		}
		for _, o := range readings {
			if o.Releases == ByAnyone {
				if i%4 > 0 {
					break // a quarter of the histories suffices for this reading
				}
				h = usurped(choose, h)
			}
			f, r := decide(t, &c, h, o)
			counts[f.Decision][r[0]]++
			if f.Decision == Undecided {
				reasons[f.Why]++
			}
			if !disagree(f, r) {
				continue
			}
			least := shrink(h, func(h *history.History) bool { return disagree(decide(t, &c, h, o)) })
			f, r = decide(t, &c, least, o)
			t.Fatalf("seed %d, %+v: the fast check says %s (%s), search and porcupine %v:\n%s", seed, o, f.Decision, f.Why, r, drawn.Tell(least))
		}
	}
	t.Logf("undecided %v legal %v illegal %v, by the search's undecided, legal, illegal; %v", counts[0], counts[1], counts[2], reasons)
}

// TestDrawnHistoriesAreLegal: a random history of a correct lock is never called illegal.
func TestDrawnHistoriesAreLegal(t *testing.T) {
	var c Checker
	for i := range *histories {
		choose := drawn.BySeed(uint64(*firstSeed + i))
		d := drawn.Any(choose)
		d.Corrupts, d.Blind = 0, false
		s := property.Weak
		if d.Atomic || d.Unnamed {
			s = property.Strong
		}
		h := drawn.History(choose, d)
		if f := c.Linearizable(h, Options{FailedAcquire: s, Steps: oracleSteps}); f.Decision == Illegal {
			t.Fatalf("seed %d, %s: %+v\n%s", i, s, f, drawn.Tell(h))
		}
	}
}

// TestLongestPrefix: the longest prefix is linearizable, and each effect in its linearization happens during its call.
func TestLongestPrefix(t *testing.T) {
	short, explained := 0, 0
	for seed := range uint64(300) {
		choose := drawn.BySeed(seed)
		h := drawn.History(choose, drawn.Any(choose))
		if s, err := Specify(h, 0, Options{}); err != nil || len(s.atomicSteps) > 30 {
			continue
		}
		p := LongestPrefix(h, 0, Options{}, time.Second)
		if p == nil {
			continue
		}
		whole := *h
		whole.Events = h.Events[:p.Events]
		if f := Check(&whole, Options{}); f.Decision == Illegal && p.Effects != nil {
			t.Errorf("seed %d: %d of %d events are explained, which are not linearizable: %s", seed, p.Events, len(h.Events), f.Why)
		}
		if p.Events < len(h.Events) {
			short++
		}
		for _, e := range p.Effects {
			explained++
			if invoked := h.Events[e.Invocation]; e.At < float64(e.Invocation) || e.At > float64(p.Events) || invoked.Type != history.Invoke || e.What == "" {
				t.Errorf("seed %d: %+v of %+v", seed, e, invoked)
			}
		}
	}
	if short < 20 || explained < 100 {
		t.Errorf("%d prefixes that are shorter than the history, %d effects", short, explained)
	}
}

// shrink removes events from a history while a condition, such as a disagreement, still holds. It returns the smallest
// history found.
func shrink(h *history.History, wrong func(*history.History) bool) *history.History {
	for again := true; again; {
		again = false
		for i := len(h.Events) - 1; i >= 0; i-- {
			for _, pair := range []bool{true, false} {
				if less := without(h, i, pair); less != nil && Validate(less) == nil && wrong(less) {
					h, again = less, true
					break
				}
			}
			i = min(i, len(h.Events))
		}
	}
	return h
}

// without returns the history without event i. If pair is set, it removes the invocation i together with its
// completion; nil if i is no invocation.
func without(h *history.History, i int, pair bool) *history.History {
	less := *h
	less.Events = slices.Clone(h.Events)
	e := h.Events[i]
	less.Events = slices.Delete(less.Events, i, i+1)
	if pair {
		if e.Type != history.Invoke {
			return nil
		}
		for j := i; j < len(less.Events); j++ {
			if less.Events[j].Process == e.Process {
				less.Events = slices.Delete(less.Events, j, j+1)
				break
			}
		}
	}
	return &less
}
