package lockproof_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// believers are the clients that believe they hold a slot of the first lock, if the server still has their connection.
func believers(v lockproof.View) (all []int) {
	for i, c := range v.Clients {
		if c.Lock == 0 && c.Believes > 0 && c.Connected {
			all = append(all, i+1)
		}
	}
	return all
}

// oneAtMost says that at most one client holds a slot. A semaphore of two slots violates it.
var oneAtMost = lockproof.Always("one-at-most", func(v lockproof.View) error {
	if all := believers(v); len(all) > 1 {
		return fmt.Errorf("c%d and c%d hold slots at once", all[0], all[1])
	}
	return nil
})

// bothHeld says that in some execution two clients hold a slot at once.
var bothHeld = lockproof.Sometimes("both-held", func(v lockproof.View) bool { return len(believers(v)) > 1 })

// remembered is a property that uses the history and the last exchange: a client deletes nothing that it has verified.
var remembered = lockproof.Always("remembered", func(v lockproof.View) error {
	verified := 0
	for _, e := range v.Events() {
		if e.Operation == "verify" && e.Type == "ok" && e.Held {
			verified = e.Client
		}
	}
	if x := v.Last(); verified > 0 && strings.HasPrefix(x.Command, "delete") && x.Client == verified {
		return fmt.Errorf("c%d deletes what it has verified: %s, answered %s", verified, x.Command, x.Reply)
	}
	return nil
})

func own(all ...lockproof.Own) []lockproof.Own { return all }

// TestOwnProperty: Prove and Explore judge a custom property. A counterexample to it is minimised, drawn, saved and
// replayed like one to a built-in property.
func TestOwnProperty(t *testing.T) {
	o := lockproof.Options{Own: own(oneAtMost, bothHeld), Properties: []lockproof.Property{lockproof.NoLeak}}
	sampled, err := lockproof.Prove(t.Context(), lockproof.Target{}, lockproof.Sample{Options: o, Executions: 500, Clients: 2, Slots: 2, Admins: lockproof.None})
	if err != nil {
		t.Fatal(err)
	}
	explored, err := lockproof.Explore(t.Context(), lockproof.Target{}, lockproof.Bounds{Options: o, Clients: 2, Slots: 2, Admins: lockproof.None})
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range []*lockproof.Result{sampled, explored} {
		j := res.Judgement("one-at-most")
		c := j.Counterexample
		if j.Verdict != lockproof.Violated || c.Steps > 16 || !strings.Contains(c.Detail, "hold slots at once") {
			t.Fatalf("%s: %v", j.Verdict, c)
		}
		if !strings.Contains(c.Diagram, "one-at-most: a function of your own") || len(res.Judgements) != 3 {
			t.Errorf("%d judgements:\n%s", len(res.Judgements), c.Diagram)
		}
		replays(t, c)
		var card strings.Builder
		for _, format := range []string{"card", "json", "junit", "html"} {
			if err := res.Write(&card, format); err != nil || strings.Count(card.String(), "one-at-most") == 0 {
				t.Errorf("%s: %v", format, err)
			}
			card.Reset()
		}
	}
	if j := sampled.Judgement("both-held"); j.Verdict != lockproof.Passed || j.Counterexample != nil {
		t.Errorf("sampled, %s is %s: %s", j.Property, j.Verdict, j.Reason)
	}
	if j := explored.Judgement("both-held"); j.Verdict != lockproof.Proved || j.Counterexample != nil {
		t.Errorf("explored, %s is %s: %s", j.Property, j.Verdict, j.Reason)
	}
}

// replays saves a counterexample, loads it and replays it: once with its custom property in Options.Own, once without.
func replays(t *testing.T, found *lockproof.Counterexample) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "found.json")
	if err := found.Save(file); err != nil {
		t.Fatal(err)
	}
	c, err := lockproof.LoadCounterexample(file)
	if err != nil || c.Property != found.Property || c.Detail != found.Detail {
		t.Fatalf("%v: %v", c, err)
	}
	// Replay finds the property by its name, wherever in the list it is.
	again, err := lockproof.Replay(t.Context(), c, lockproof.Options{Own: own(bothHeld, remembered, oneAtMost)})
	if err != nil || !errors.Is(again.Err(), lockproof.ErrViolated) || again.Judgement(found.Property).Counterexample.Detail != found.Detail {
		t.Errorf("replayed: %v, %v", again, err)
	}
	_, err = lockproof.Replay(t.Context(), c, lockproof.Options{Own: own(bothHeld)})
	if !errors.Is(err, lockproof.ErrInvalid) || !strings.Contains(err.Error(), "counterexample of "+string(found.Property)) {
		t.Errorf("without the property: %v", err)
	}
}

// TestOwnHolds: a property that holds is reported as such. One that is never seen is undecided in sampling, and
// violated in a complete exploration.
func TestOwnHolds(t *testing.T) {
	o := lockproof.Options{
		Own: own(oneAtMost, bothHeld), Properties: []lockproof.Property{"both-held"}, Require: []lockproof.Property{"one-at-most"},
	}
	sampled, err := lockproof.Prove(t.Context(), lockproof.Target{}, lockproof.Sample{Options: o, Executions: 300, Clients: 2, Slots: 1, Admins: lockproof.None})
	if err != nil || !errors.Is(sampled.Err(), lockproof.ErrInconclusive) {
		t.Fatalf("%v, %v", sampled.Err(), err)
	}
	if j := sampled.Judgement("both-held"); j.Verdict != lockproof.Undecided || j.Reason != "not seen in 300 executions" {
		t.Errorf("sampled, %s is %s: %s", j.Property, j.Verdict, j.Reason)
	}
	if j := sampled.Judgement("one-at-most"); j.Verdict != lockproof.Passed || j.Checked < 1000 {
		t.Errorf("sampled, %s is %s: %d times", j.Property, j.Verdict, j.Checked)
	}
	b := lockproof.Bounds{Options: o, Clients: 2, Slots: 1, Admins: lockproof.None}
	explored, err := lockproof.Explore(t.Context(), lockproof.Target{}, b)
	if err != nil {
		t.Fatal(err)
	}
	if j := explored.Judgement("both-held"); j.Verdict != lockproof.Violated || !strings.HasPrefix(j.Counterexample.Detail, "not seen in any of ") {
		t.Errorf("explored, %s is %s: %s", j.Property, j.Verdict, j.Reason)
	}
	if j := explored.Judgement("one-at-most"); j.Verdict != lockproof.Proved || j.Checked != explored.States {
		t.Errorf("explored, %s is %s", j.Property, j.Verdict)
	}
	b.Depth = 3
	explored, err = lockproof.Explore(t.Context(), lockproof.Target{}, b)
	if j := explored.Judgement("both-held"); err != nil || j.Verdict != lockproof.Undecided {
		t.Errorf("explored in part, %s is %s: %s, %v", j.Property, j.Verdict, j.Reason, err)
	}
}

// TestOwnPast: Prove judges a property that uses the history or the last exchange. Explore skips the property, since it
// visits each state only once, although executions with different histories lead there.
func TestOwnPast(t *testing.T) {
	o := lockproof.Options{Own: own(remembered), Properties: []lockproof.Property{"remembered"}}
	sampled, err := lockproof.Prove(t.Context(), lockproof.Target{}, lockproof.Sample{Options: o, Executions: 200})
	if err != nil {
		t.Fatal(err)
	}
	j := sampled.Judgement("remembered")
	if j.Verdict != lockproof.Violated || !strings.Contains(j.Counterexample.Detail, "delete ") || !strings.Contains(j.Counterexample.Detail, "answered ok") {
		t.Errorf("sampled: %s, %v", j.Verdict, j.Counterexample)
	}
	for _, walks := range []int{0, 10} {
		explored, err := lockproof.Explore(t.Context(), lockproof.Target{}, lockproof.Bounds{Options: o, Simulate: walks})
		if err != nil {
			t.Fatal(err)
		}
		if j := explored.Judgement("remembered"); j.Verdict != lockproof.Skipped || !strings.Contains(j.Reason, "Prove judges it") {
			t.Errorf("explored: %s, %s", j.Verdict, j.Reason)
		}
	}
}

// TestOwnTellsClientsApart: Explore merges no states that differ only in the numbers of clients, since a custom
// property may distinguish clients. So for each of three clients, an execution is found in which it holds a slot alone.
func TestOwnTellsClientsApart(t *testing.T) {
	var all []lockproof.Own
	for c := range 3 {
		all = append(all, lockproof.Always(fmt.Sprintf("never-c%d-alone", c+1), func(v lockproof.View) error {
			if slices.Equal(believers(v), []int{c + 1}) && v.Clients[(c+1)%3].Operation == "" {
				return errors.New("it holds a slot while the next one has not begun")
			}
			return nil
		}))
	}
	res, err := lockproof.Explore(t.Context(), lockproof.Target{}, lockproof.Bounds{
		Options: lockproof.Options{Own: all, Properties: []lockproof.Property{lockproof.MutualExclusion}},
		Clients: 3,
		Slots:   1,
		Admins:  lockproof.None,
		Crashes: lockproof.None,
		Calls:   "acquire",
	})
	if err != nil {
		t.Fatal(err)
	}
	for c := range 3 {
		if j := res.Judgement(lockproof.Property(fmt.Sprintf("never-c%d-alone", c+1))); j.Verdict != lockproof.Violated {
			t.Errorf("%s is %s", j.Property, j.Verdict)
		}
	}
}

func goSemaphore() lockproof.Target {
	return lockproof.Go("semaphore", func(ctx context.Context, url string) (lockproof.Lock, error) { return amqplocks.New(ctx, url) })
}

// TestOwnExternal: custom properties are judged for external clients as well.
func TestOwnExternal(t *testing.T) {
	res, err := lockproof.Prove(t.Context(), goSemaphore(), lockproof.Sample{
		Options:    lockproof.Options{Own: own(oneAtMost, bothHeld), Properties: []lockproof.Property{lockproof.NoLeak}},
		Executions: 30,
		Clients:    2,
		Slots:      2,
		Admins:     lockproof.None,
		CrashShare: lockproof.None,
	})
	if err != nil {
		t.Fatal(err)
	}
	j := res.Judgement("one-at-most")
	if j.Verdict != lockproof.Violated || !strings.Contains(j.Counterexample.Detail, "hold slots at once") {
		t.Fatalf("%s: %s, %v", j.Property, j.Verdict, j.Counterexample)
	}
	if j := res.Judgement("both-held"); j.Verdict != lockproof.Passed {
		t.Errorf("%s is %s: %s", j.Property, j.Verdict, j.Reason)
	}
	j.Counterexample.Target = goSemaphore()
	again, err := lockproof.Replay(t.Context(), j.Counterexample, lockproof.Options{Own: own(oneAtMost)})
	if err != nil || !errors.Is(again.Err(), lockproof.ErrViolated) {
		t.Errorf("replayed: %v", err)
	}
}

// TestOwnMistakes: an invalid list of custom properties returns an error. So does a property whose function panics or
// gives two results for one execution; the error names it.
func TestOwnMistakes(t *testing.T) {
	holds := func(lockproof.View) error { return nil }
	panics := lockproof.Always("panics", func(lockproof.View) error { panic("no idea") })
	n := 0
	fickle := lockproof.Always("fickle", func(lockproof.View) error {
		if n++; n == 100 {
			return errors.New("now")
		}
		return nil
	})
	var many []lockproof.Own
	for i := range 38 {
		many = append(many, lockproof.Always(fmt.Sprint("property-", i), holds))
	}
	sampled := func(all []lockproof.Own) func() (*lockproof.Result, error) {
		return prove(lockproof.Target{}, lockproof.Sample{Options: lockproof.Options{Own: all}, Executions: 100, Workers: 1})
	}
	explored := func(all []lockproof.Own) func() (*lockproof.Result, error) {
		return explore(lockproof.Target{}, lockproof.Bounds{Options: lockproof.Options{Own: all}})
	}
	for _, c := range []struct {
		want string
		run  func() (*lockproof.Result, error)
	}{
		{"property panics of your own: its function panicked: no idea", sampled(own(panics))},
		{"property panics of your own: its function panicked: no idea", explored(own(panics))},
		{"property fickle of your own: it says two things of one execution", sampled(own(fickle))},
		{"there is one of that name", sampled(own(lockproof.Always("no-leak", holds)))},
		{"there are two of that name", sampled(own(lockproof.Always("mine", holds), lockproof.Always("mine", holds)))},
		{"expected a name such as", sampled(own(lockproof.Always("My own!", holds)))},
		{"expected a name such as", sampled(own(nil))},
		{"expected a function", sampled(own(lockproof.Sometimes("mine", nil)))},
		{"38 properties of your own: expected at most 35", sampled(many)},
		{"any number of clients: expected a number", explore(lockproof.Target{}, lockproof.Bounds{Options: lockproof.Options{Own: own(oneAtMost)}, Clients: lockproof.Any})},
		{"and a checkpoint: expected none", explore(lockproof.Target{}, lockproof.Bounds{Options: lockproof.Options{Own: own(oneAtMost)}, Checkpoint: "x"})},
	} {
		if _, err := c.run(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v; want %s", err, c.want)
		}
	}
}
