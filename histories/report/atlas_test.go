package report

import (
	"io"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"

	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// sampleAtlas is an atlas that has at least one example of everything.
func sampleAtlas() *Atlas {
	broken := AtlasVerdict{Property: property.MutualExclusion, Verdict: Violated, Steps: 8, Least: true, Detail: "c1 and c2 hold slot 1 at once", Trace: historiestest.LockedTaken(), Real: "the same"}
	leaking := AtlasVerdict{Property: property.NoLeak, Verdict: Violated, Steps: 1, Detail: "the queue a|b <i> & co is left behind", Trace: historiestest.Faults(), Real: "not tried: \x1b[31m it restarts"}
	good := func(p property.Property) AtlasVerdict { return AtlasVerdict{Property: p, Verdict: Proved} }
	cost := []EfficiencyRow{
		{Operation: monitor.AcquireFirst.String(), Count: 4, Commands: spread(6), RoundTrips: spread(2), Unpipelined: spread(6), Channels: spread(0), Connections: spread(0), Budget: &Budget{RoundTrips: 4}},
		{Operation: monitor.ReleaseOK.String(), Count: 3, Commands: spread(1, 3), RoundTrips: spread(1, 2), Unpipelined: spread(1, 3), Channels: spread(0), Connections: spread(0)},
		{Operation: "something else", Count: 1, Commands: spread(9), RoundTrips: spread(9), Unpipelined: spread(9), Channels: spread(9), Connections: spread(9)},
	}
	space := &Space{States: 1, Transitions: 57439, Final: 12, Queue: 4, Bytes: 1 << 20, Reductions: []string{"symmetry"}}
	one := AtlasRow{
		Setting: "one slot", Bounds: "2 clients", Command: "lockproof explore --clients 2", Verdicts: []AtlasVerdict{good(property.Progress), broken, leaking},
		Cost: cost, Space: space, Ends: []string{"{}", "{1}"}, Seen: []string{"acquire gave-up"},
		Counterexamples: []*histories.Counterexample{{Property: property.MutualExclusion}, {Property: property.NoLeak}},
	}
	two := AtlasRow{
		Setting: "two slots", Bounds: "2 clients, 1 crash", Command: "lockproof explore --clients 2 --crashes 1",
		Verdicts: []AtlasVerdict{good(property.Progress), good(property.NoLeak), {Property: property.Linearizable, Verdict: Undecided}, {Property: property.ExactCount, Verdict: Passed}},
		Ends:     []string{"{1 2}"},
	}
	figure := AtlasRow{Setting: "a number", Bounds: "100 clients", Command: "lockproof atlas --server redis", Figures: []string{"exactly: 5.187", "simulated: 5.184 | 3"}, Same: "Redis 7: 5.143"}
	three := AtlasRow{Setting: "three slots", Bounds: "3 clients", Command: "lockproof explore --clients 3", Verdicts: []AtlasVerdict{leaking}}
	return &Atlas{
		Tool: "0.1.0", Title: "the guidelines' open questions", Broker: "RabbitMQ 3.10.8",
		Questions: []Question{
			{Number: 1, Ask: "What does one slot do, and what if somebody asks for a sentence that takes more than one line of a narrow terminal?", Answer: "It breaks.", Rows: []AtlasRow{one, two}},
			{Number: 12, Ask: "And two?", Answer: "They do not.", Rows: []AtlasRow{two, three, figure}},
		},
		Needed: &Needed{
			Tried: 64, Proved: 3, Bounds: "2 clients, 2 rounds", Free: []string{"pipeline", "polls"},
			Smallest: []NeededOption{{"verify-first", []AtlasVerdict{broken, leaking}}, {"admin-mutex", []AtlasVerdict{leaking}}},
			Any: &NeededAny{Bounds: "any number of clients", Each: []AnyCombination{
				{Options: "order=descending", Proved: 1<<property.MutualExclusion | 1<<property.NoLeak},
				{Options: "order=ascending", Proved: 1 << property.MutualExclusion, Open: 1 << property.NoLeak},
			}},
		},
	}
}

func TestAtlas(t *testing.T) {
	plain := *sampleAtlas()
	plain.Broker, plain.Needed, plain.Missing = "", nil, "what no lock can do without"
	plain.Questions[1].Missing = []string{"three slots", "four"}
	for name, c := range map[string]struct {
		atlas *Atlas
		write func(io.Writer, *Atlas) error
	}{
		"atlas-100.txt":    {sampleAtlas(), func(w io.Writer, a *Atlas) error { return WriteAtlas(w, a, style.Style{Width: 100}) }},
		"atlas-color.txt":  {sampleAtlas(), func(w io.Writer, a *Atlas) error { return WriteAtlas(w, a, style.Style{Width: 72, Color: true}) }},
		"atlas-short.txt":  {&plain, func(w io.Writer, a *Atlas) error { return WriteAtlas(w, a, style.Style{Width: 90}) }},
		"atlas.md":         {sampleAtlas(), WriteAtlasMarkdown},
		"atlas-short.md":   {&plain, WriteAtlasMarkdown},
		"atlas.json":       {sampleAtlas(), WriteAtlasJSON},
		"atlas-short.json": {&plain, WriteAtlasJSON},
		"atlas.html":       {sampleAtlas(), WriteAtlasPage},
	} {
		var b strings.Builder
		if err := c.write(&b, c.atlas); err != nil {
			t.Fatal(err)
		}
		historiestest.Golden(t, name, b.String())
		if strings.Contains(b.String(), "\x1b[31m it") {
			t.Errorf("%s: what a broker said reaches the terminal as it is", name)
		}
	}
	files := sampleAtlas().Counterexamples()
	for _, name := range []string{"01-1.mutual-exclusion.json", "01-1.no-leak.json"} {
		if files[name] == nil {
			t.Errorf("there is no file %s among %d", name, len(files))
		}
	}
	if len(files) != 2 || !sampleAtlas().Complete() || plain.Complete() {
		t.Errorf("%d files, complete %v and %v", len(files), sampleAtlas().Complete(), plain.Complete())
	}
}
