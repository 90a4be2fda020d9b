package report

import (
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// sampleComparison is a comparison that has at least one example of everything.
func sampleComparison() *Comparison {
	spread := func(least, most int) Spread { return Spread{Min: least, Max: most, Sum: least + most, Count: 2} }
	cost := func(k lock.Kind, c monitor.CostClass, least, most int) EfficiencyRow {
		return EfficiencyRow{Operation: c.Of(k), Count: 2, Commands: spread(least, most), RoundTrips: spread(least, least)}
	}
	verdicts := func(fault string, all ...Verdict) FaultVerdicts {
		f := FaultVerdicts{Fault: fault, States: 1234, Command: "lockproof explore --" + fault}
		for i, v := range all {
			f.Verdicts = append(f.Verdicts, PropertyVerdict{property.Property(i), v})
		}
		return f
	}
	cut := verdicts("crash", Proved, Passed)
	cut.Cut = "not wholly visited: there was no time for more"
	var real []time.Duration
	for i := range 200 {
		real = append(real, time.Duration(i+1)*10*time.Microsecond)
	}
	d := NewDistribution(real)
	loads := []MeasuredLoad{
		{Clients: 1, Granted: 900, Took: time.Second, Acquire: d}, {Clients: 8, Granted: 5000, Took: time.Second, Acquire: d},
		{Clients: 1, Contended: true, Granted: 900, Took: time.Second, Acquire: d},
		{Clients: 8, Contended: true, LeftOut: "too many <connections>"},
	}
	operations := []MeasuredOperation{
		{"acquire", 2, 2, 101.5, 99, d}, {"verify", 1, 1, 50, 49, d}, {"release", 1, 1, 40, 41, d},
	}
	return &Comparison{
		Tool: "0.1.0", Command: "lockproof compare", Bounds: "2 clients and 1 slot", Faults: []string{"none", "crash"}, Scenarios: 2000, Seed: 7,
		Clients: []int{1, 8}, Of: 4, Elapsed: 75 * time.Second,
		Servers: []ComparedServer{{Title: "RabbitMQ", Version: "RabbitMQ 3.10.8"}, {Title: "Consul", Missing: "set CONSUL_HTTP_ADDR & <start> one"}},
		Rows: []ComparedLock{
			{
				Target: "consumer-persistent-mutex", Doc: "whoever consumes", Kind: lock.PersistentMutex, Server: "RabbitMQ",
				Faults: []FaultVerdicts{verdicts("none", Proved, Proved), verdicts("crash", Proved, Proved, Proved)},
				Cost:   []EfficiencyRow{cost(lock.PersistentMutex, monitor.AcquireFirst, 2, 19), cost(lock.PersistentMutex, monitor.ReleaseOK, 1, 1)},
				Stale:  Overlap{Commands: 29, Time: 29 * time.Millisecond, Scenarios: 3},
				Real:   &Measured{Server: "RabbitMQ 3.10.8", Operations: operations, Loads: loads, Free: d},
			},
			{
				Target: "token-semaphore", Kind: lock.Semaphore, Server: "RabbitMQ",
				Faults: []FaultVerdicts{verdicts("none", Proved), cut},
				Real:   &Measured{Server: "RabbitMQ 3.10.8", Operations: []MeasuredOperation{{"refresh", 1, 1, 50, 49, d}}, Free: d, Lease: 200 * time.Millisecond},
			},
			{
				Target: "consul-semaphore", Kind: lock.Semaphore, Server: "Consul", NotMeasured: "no Consul",
				Faults: []FaultVerdicts{verdicts("none", Proved, Violated), verdicts("crash", Undecided, Passed)},
			},
		},
	}
}

func TestComparison(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *Comparison) error{
		"comparison-80.txt": func(w io.Writer, c *Comparison) error { return WriteComparison(w, c, style.Style{Width: 80}) },
		"comparison.json":   WriteComparisonJSON,
		"comparison.md":     WriteComparisonMarkdown,
		"comparison.html":   WriteComparisonPage,
	} {
		var b strings.Builder
		if err := write(&b, sampleComparison()); err != nil {
			t.Fatal(err)
		}
		historiestest.Golden(t, name, b.String())
		if !strings.HasSuffix(name, ".txt") && !strings.HasSuffix(name, ".json") && strings.Contains(b.String(), "<start>") {
			t.Errorf("%s: text is taken for HTML", name)
		}
		if !strings.Contains(b.String(), "CONSUL_HTTP_ADDR") {
			t.Errorf("%s: the server that is missing is not told of", name)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); strings.HasSuffix(name, ".txt") && n > 80 {
				t.Errorf("%s: %d columns in %q", name, n, line)
			}
		}
	}
	c := sampleComparison()
	if lost := c.Losers(); len(lost) != 1 || lost[0] != "consul-semaphore" {
		t.Errorf("%q lose a property, expected consul-semaphore alone", lost)
	}
}

// TestDistribution: the n-th percentile is the smallest measured duration that at least n % of the durations do not
// exceed.
func TestDistribution(t *testing.T) {
	if d := NewDistribution(nil); d != (Distribution{}) {
		t.Errorf("of nothing: %+v", d)
	}
	if d := NewDistribution([]time.Duration{3, 1, 2}); d != (Distribution{3, 1, 1, 2, 3, 3, 3}) {
		t.Errorf("of three: %+v", d)
	}
	var all []time.Duration
	for i := range 1000 {
		all = append(all, time.Duration(1000-i))
	}
	if d := NewDistribution(all); d != (Distribution{1000, 1, 100, 500, 900, 990, 1000}) {
		t.Errorf("of a thousand: %+v", d)
	}
}
