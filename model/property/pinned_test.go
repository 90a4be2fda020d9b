package property_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// ours is a backend that only this test uses.
var ours = &lock.Backend{Name: "ours", Skips: map[string]string{"no-leak": "nothing is ever left"}}

func init() { lock.Register(ours) }

// TestSaid compares all texts about all properties with a file, and which properties apply to which locks.
func TestSaid(t *testing.T) {
	var b strings.Builder
	for p := range property.Count + 2 {
		fmt.Fprintf(&b, "%s: %s, own %v", p, p.Evidence(), p.Own())
		for k := range lock.PersistentMutex + 1 {
			fmt.Fprintf(&b, "; %s", p.Sentence(k))
		}
		fmt.Fprintln(&b)
		violations(&b, p)
	}
	kinds(&b)
	fmt.Fprintln(&b, property.Counted(0, "slot"), property.Counted(1, "slot"), property.Counted(2, "slot"))
	all := property.Set(1<<property.Count - 1).With(property.Count).With(property.Most - 1)
	fmt.Fprintln(&b, slices.Collect(all.All()), all.Names(), all.BySeverity())
	for p := range all.All() {
		fmt.Fprintln(&b, "the first is", p)
		break
	}
	pinned.Text(t, "testdata/said.txt", b.String())
}

// violations writes the texts of violations of property p.
func violations(b *strings.Builder, p property.Property) {
	for _, v := range []property.Violation{
		{Client: 1, Other: 2, Slot: 3}, {Client: 1, Slot: 3, Detail: "that"}, {Detail: "that"}, {Client: 1}, {Own: "mine", Detail: "this", Client: 2},
	} {
		for _, k := range []lock.Kind{lock.Semaphore, lock.Mutex} {
			v.Property, v.Kind = p, k
			fmt.Fprintf(b, "\t%s: %s\n", v.Name(), v.Explain())
		}
	}
}

// kinds writes which properties apply to which types of locks and traits.
func kinds(b *strings.Builder) {
	for _, k := range []lock.Kind{lock.Semaphore, lock.Mutex, lock.PersistentMutex} {
		fmt.Fprintf(b, "%s: %v\nexternal: %v\n", k, property.Applicable(k).Names(), property.ApplicableExternal(k).Names())
		some := &lock.Backend{Skips: map[string]string{"no-leak": "why", "no-crash": "why"}}
		fmt.Fprintf(b, "of a server: %v\n", property.External(some, k).Names())
	}
	for traits := range lock.Traits(1 << 7) {
		t := &lock.Target{Name: "some", Backend: "ours", Kind: lock.Semaphore, Traits: traits, Skips: map[string]string{"exact-count": "it counts nothing"}}
		fmt.Fprintf(b, "traits %b: %v\n", traits, (property.ForTraits(traits)).Names())
		fmt.Fprintf(b, "\tall: %v, skipped: %v\n", property.Of(t).Names(), property.Skipped(t))
	}
}

// TestNamed: a property or a meaning of failed acquires is found by its name, or by its name in earlier versions. Other
// names are errors.
func TestNamed(t *testing.T) {
	for p := range property.Count {
		if got, err := property.Named(p.String()); got != p || err != nil {
			t.Errorf("%s: %v, %v", p, got, err)
		}
	}
	if _, err := property.Named("unknown"); err == nil || err.Error() != `property "unknown" is not known` {
		t.Errorf("got %v", err)
	}
	for name, want := range map[string]property.FailedAcquire{"weak": property.Weak, "strong": property.Strong, "scan": property.Weak, "strict": property.Strong} {
		if got, err := property.FailedAcquireNamed(name); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := property.FailedAcquireNamed("stron"); err == nil || err.Error() != `strength "stron": expected one of ["weak" "strong"]` {
		t.Errorf("got %v", err)
	}
	if got := property.Strong.Note(); got != "failed acquires: strong" {
		t.Errorf("got %q", got)
	}
}

// TestSkips: CheckSkips returns an error for a skipped property that is unknown or has no reason.
func TestSkips(t *testing.T) {
	for _, c := range []struct {
		own, target map[string]string
		want        string
	}{
		{map[string]string{"no-leak": "why"}, map[string]string{"no-crash": "why"}, "<nil>"},
		{map[string]string{"no-leak": ""}, nil, `backend "some": property no-leak is skipped without a reason`},
		{map[string]string{"no-lock": "why"}, nil, `backend "some": property "no-lock" is not known`},
		{nil, map[string]string{"no-leak": ""}, `target one: property no-leak is skipped without a reason`},
		{nil, map[string]string{"no-lock": "why"}, `target one: property "no-lock" is not known`},
	} {
		b := &lock.Backend{Name: "some", Skips: c.own, References: []*lock.Target{{Name: "one", Skips: c.target}}}
		if err := property.CheckSkips(b); fmt.Sprint(err) != c.want {
			t.Errorf("%v %v: got %v, want %s", c.own, c.target, err, c.want)
		}
	}
}

// TestSentenceOn: sentences about locks that are not on a broker do not mention queues, brokers or channels.
func TestSentenceOn(t *testing.T) {
	asked := []property.Property{property.StaleBeliefEnds, property.CrashFrees, property.NoLeak, property.NameSafety, property.SurvivesRestart, property.CheapAcquire}
	for _, p := range asked {
		said := p.SentenceOn(lock.Words{Hold: "an entry"}, lock.Mutex)
		if strings.Contains(said, "queue") || strings.Contains(said, "broker") || strings.Contains(said, "channel") {
			t.Errorf("%s: %s", p, said)
		}
		for _, w := range []lock.Words{{}, {Server: "broker"}} {
			if got := p.SentenceOn(w, lock.Mutex); got != p.Sentence(lock.Mutex) {
				t.Errorf("%s on a broker: %s", p, got)
			}
		}
	}
}
