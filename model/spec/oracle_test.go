package spec

import (
	"flag"
	"testing"

	"github.com/anishathalye/porcupine"
)

var (
	histories = flag.Int("histories", 4000, "how many random histories the checks are compared on")
	firstSeed = flag.Int("seed", 0, "the seed of the first of them")
)

// oracleSteps is how many steps porcupine may take over one history of the tests.
const oracleSteps = 1 << 16

// failer is a test, of testing or of rapid.
type failer interface {
	Helper()
	Fatal(...any)
}

// decide is what the fast check says, and porcupine, of the specification as it reads and of the one
// that is made easier to check.
func decide(t failer, c *Checker, h *History, s Strength, permits int) (Finding, []porcupine.CheckResult) {
	t.Helper()
	if err := c.resolver.resolve(h, 0, permits); err != nil {
		t.Fatal(err)
	}
	if c.resolver.inconsistent() {
		return Finding{Why: "inconsistent"}, make([]porcupine.CheckResult, 2)
	}
	f := c.fast(s)
	// The specification keeps what it looks at.
	r := new(resolver)
	if err := r.resolve(h, 0, permits); err != nil {
		t.Fatal(err)
	}
	p := r.decomposed(s)
	model := p.Model()
	model.Partition = nil
	steps := oracleSteps
	plain := checkSteps(model, p.Operations(), &steps)
	parted, _ := r.specify(s).Check(oracleSteps)
	return f, []porcupine.CheckResult{plain, parted}
}

func disagree(f Finding, results []porcupine.CheckResult) bool {
	says := map[porcupine.CheckResult]bool{}
	for _, r := range results {
		says[r] = true
	}
	says[porcupine.Ok] = says[porcupine.Ok] || f.Decision == Legal
	says[porcupine.Illegal] = says[porcupine.Illegal] || f.Decision == Illegal
	return says[porcupine.Ok] && says[porcupine.Illegal]
}

func TestFastCheckAgreesWithPorcupine(t *testing.T) {
	var c Checker
	var counts [3][3]int
	reasons := map[string]int{}
	for i := range *histories {
		seed := uint64(*firstSeed + i)
		choose := bySeed(seed)
		h := drawHistory(choose, drawAny(choose))
		if Validate(h) != nil {
			continue
		}
		for s := Scan; s <= Strict; s++ {
			f, r := decide(t, &c, h, s, 0)
			counts[f.Decision][map[porcupine.CheckResult]int{porcupine.Ok: 1, porcupine.Illegal: 2}[r[1]]]++
			if f.Decision == Undecided {
				reasons[f.Why]++
			}
			if !disagree(f, r) {
				continue
			}
			least := shrink(h, func(h *History) bool { return disagree(decide(t, &c, h, s, 0)) })
			f, r = decide(t, &c, least, s, 0)
			t.Fatalf("seed %d, %s: the fast check says %s (%s), porcupine %s:\n%s", seed, s, f.Decision, f.Why, r, tell(least))
		}
	}
	t.Logf("undecided %v legal %v illegal %v, by porcupine's unknown, ok, illegal; %v", counts[0], counts[1], counts[2], reasons)
}

// What a lock does is a linearizable history of it: nothing is called wrong that is not.
func TestDrawnHistoriesAreLegal(t *testing.T) {
	var c Checker
	for i := range *histories {
		choose := bySeed(uint64(*firstSeed + i))
		d := drawAny(choose)
		d.corrupts, d.blind = 0, false
		s := Scan
		if d.atomic || d.unnamed {
			s = Strict
		}
		h := drawHistory(choose, d)
		if f := c.Linearizable(h, LinearizableOptions{Strength: s, Steps: oracleSteps}); f.Decision == Illegal {
			t.Fatalf("seed %d, %s: %+v\n%s", i, s, f, tell(h))
		}
	}
}
