package broker

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
)

// pick returns a random element of from.
func pick[E any](r *rand.Rand, from ...E) E { return from[r.IntN(len(from))] }

// TestReach publishes messages with random topics and headers through random exchanges and bindings. Each reaches the
// queues that a simple implementation of the rules finds: each queue once, in ascending order.
func TestReach(t *testing.T) {
	several := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 6))
		b := fuzzed(Options{})
		x := b.routes()
		for _, name := range []string{"x", "y", "z"} {
			kind := pick(r, "direct", "topic", "topic", "fanout", "headers")
			x.exchanges = append(x.exchanges, exchange{name, Exchange{Type: kind, Alternate: pick(r, "", "", "x", "y", "z", "gone")}})
		}
		for range 2 + r.IntN(8) {
			to := binding{
				source: pick(r, "x", "x", "y", "z"), key: pick(r, "", "#", "*", "k", "k.l", "k.*", "#.l", "*.*", "#.k.#", "*.#", "#.*.l"),
			}
			wanted := map[string]string{"a": pick(r, "1", "2", amqp.Present), pick(r, "b", "x-c"): pick(r, "1", "2")}
			if how := pick(r, "", "any", "all", "any-with-x", "all-with-x"); how != "" {
				wanted[matchArgument] = how
			}
			to.headers = amqp.NewHeaders(wanted)
			if to.destination = pick(r, "", "", "y", "z", "x"); to.destination == "" {
				to.queue = pick[amqp.Queue](r, 1, 2, 3)
			}
			x.bind(to)
		}
		for range 8 {
			m := amqp.Routing{
				Exchange: pick(r, "x", "y"), Key: pick(r, "", "k", "l", "k.l", "l.k", "k.k.l"),
				Headers: amqp.NewHeaders(map[string]string{pick(r, "a", "x-c"): pick(r, "1", "2"), pick(r, "b", "c"): pick(r, "1", "2")}),
			}
			reached := make(map[amqp.Queue]bool)
			plainReach(x, m.Exchange, &m, make(map[string]bool), reached)
			want := slices.Sorted(maps.Keys(reached))
			if got := b.Reach(&amqp.Command{Route: b.names.InternRoute(m)}); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %+v reaches %d, want %d, by %+v", seed, m, got, want, *x)
			}
			if len(want) > 1 {
				several++
			}
		}
	}
	if several < 900 {
		t.Errorf("only %d messages reached several queues: that says little", several)
	}
}

// plainReach records the queues to which the exchange from routes message m.
func plainReach(x *routing, from string, m *amqp.Routing, been map[string]bool, reached map[amqp.Queue]bool) {
	i, exists := x.exchange(from)
	if been[from] || !exists {
		return
	}
	been[from] = true
	taken := false
	for _, o := range x.bindings {
		if o.source != from || !plainlyTakes(x.exchanges[i].Type, &o, m) {
			continue
		}
		if taken = true; o.queue != 0 {
			reached[o.queue] = true
		} else {
			plainReach(x, o.destination, m, been, reached)
		}
	}
	if !taken {
		plainReach(x, x.exchanges[i].Alternate, m, been, reached)
	}
}

// plainlyTakes reports whether a message matches a binding of an exchange of the given type. For topics it appends a
// full stop to every word, and turns the pattern into a regular expression.
func plainlyTakes(kind string, o *binding, m *amqp.Routing) bool {
	dotted := func(s string) string { return strings.TrimPrefix(s+".", ".") }
	switch kind {
	case "direct":
		return o.key == m.Key
	case "topic":
		pattern := strings.NewReplacer("*.", `[^.]+\.`, "#.", `([^.]+\.)*`, ".", `\.`).Replace(dotted(o.key))
		return regexp.MustCompile("^" + pattern + "$").MatchString(dotted(m.Key))
	case "headers":
		how, _ := o.headers.Lookup(matchArgument)
		hits, misses := 0, 0
		for name, want := range o.headers.All() {
			value, has := m.Headers.Lookup(name)
			switch {
			case name == matchArgument, strings.HasPrefix(name, "x-") && !strings.HasSuffix(how, "-with-x"):
			case has && (want == amqp.Present || want == value):
				hits++
			default:
				misses++
			}
		}
		return strings.HasPrefix(how, "any") && hits > 0 || !strings.HasPrefix(how, "any") && misses == 0
	}
	return true
}

// TestDeaths compares the deaths that a dead letter stores with a list of all its deaths. The stored deaths have the
// latest queue and reason first, the count of each, and the data of its earliest death. They mark the first of all
// deaths.
func TestDeaths(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		var all, got []Death
		for at := range int64(1 + r.IntN(12)) {
			d := Death{Queue: pick(r, "a", "b"), Reason: pick(r, Expired, MaxLen, Rejected), Exchange: pick(r, "", "x"), Key: pick(r, "k", "a"), Count: 1, At: 200 * at}
			all = append(all, d)
			got = parseDeaths(formatDeaths(addDeath(slices.Clone(got), d)))
		}
		if want := counted(all); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %+v\nwant %+v\nof %+v", seed, got, want, all)
		}
	}
}

// counted summarises a list of all deaths, with one entry for each queue and reason.
func counted(all []Death) (deaths []Death) {
	of := func(d Death) func(Death) bool {
		return func(o Death) bool { return o.Queue == d.Queue && o.Reason == d.Reason }
	}
	for i := len(all) - 1; i >= 0; i-- {
		if slices.ContainsFunc(deaths, of(all[i])) {
			continue
		}
		first := slices.IndexFunc(all, of(all[i]))
		d := all[first]
		d.First, d.Count = first == 0, 0
		for _, o := range all {
			if of(d)(o) {
				d.Count++
			}
		}
		deaths = append(deaths, d)
	}
	return deaths
}

// TestCycle: a dead letter may return to a queue in which it has died only if a client has rejected it since.
func TestCycle(t *testing.T) {
	for _, c := range []struct {
		queue  string
		deaths []Death // latest death first
		want   bool
	}{
		{"a", nil, false},
		{"a", []Death{{Queue: "a", Reason: Expired}}, true},
		{"a", []Death{{Queue: "b", Reason: MaxLen}, {Queue: "a", Reason: MaxLen}}, true},
		{"a", []Death{{Queue: "b", Reason: Expired}}, false},
		{"a", []Death{{Queue: "b", Reason: Rejected}, {Queue: "a", Reason: Expired}}, false},
		{"a", []Death{{Queue: "a", Reason: Expired}, {Queue: "b", Reason: Rejected}}, true},
		{"a", []Death{{Queue: "a", Reason: Rejected}}, false},
	} {
		if got := cycle(c.queue, c.deaths); got != c.want {
			t.Errorf("to %s after %+v: %v", c.queue, c.deaths, got)
		}
	}
}

// TestMatchable: x-match must be one of four values, or absent.
func TestMatchable(t *testing.T) {
	for how, want := range map[string]bool{"all": true, "any": true, "all-with-x": true, "any-with-x": true, "": false, "none": false, "any-with": false} {
		if got := matchable(amqp.NewHeaders(map[string]string{"a": "1", matchArgument: how})); got != want {
			t.Errorf("%q: %v", how, got)
		}
	}
	if !matchable(amqp.NewHeaders(map[string]string{"a": "1"})) {
		t.Error("it has to be said")
	}
}
