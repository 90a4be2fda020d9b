package clustered

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Trial is one lock whose clients hold it, or try to acquire it, during faults of the cluster.
type Trial struct {
	// Design is a built-in design; nil for external clients.
	Design *designs.Design
	// Exec is the command of external clients, or a description of them. Starter starts the clients.
	Exec    string
	Starter foreign.Starter
	Kind    lock.Kind
	Options map[string]any
	Slots   int
	// Clients are the nodes that the clients connect to, numbered from 1. The first client acquires the lock before the
	// others begin.
	Clients []int
	// Queue is the node that hosts the lock's queue, if the design allows a choice; 0 means the first client's node.
	Queue int
}

// Placement says at which node each client is, and at which the queue is if the design allows a choice.
func (t *Trial) Placement() string {
	var nodes []string
	for i, n := range t.Clients {
		nodes = append(nodes, fmt.Sprintf("%s at n%d", foreign.ClientName(i+1), n))
	}
	said := strings.Join(nodes, ", ")
	if t.Design != nil && t.Design.Hosted {
		said += fmt.Sprintf(", the queue at n%d", t.host())
	}
	return said
}

func (t *Trial) host() int {
	if t.Queue > 0 {
		return t.Queue
	}
	return t.Clients[0]
}

// check returns an error for a trial that cannot run on a cluster with the given number of nodes.
func (t *Trial) check(nodes int) error {
	if len(t.Clients) < 2 {
		return fmt.Errorf("%d clients: expected two or more, of which one holds the lock and another tries to", len(t.Clients))
	}
	for _, n := range append([]int{t.host()}, t.Clients...) {
		if n < 1 || n > nodes {
			return fmt.Errorf("node %d: expected 1 to %d", n, nodes)
		}
	}
	return nil
}

// Outcome is the result of a trial.
type Outcome struct {
	Trial   Trial
	History *history.History
	Report  *report.Report
	Measure Measure
	// Err says why the trial could not be carried out or ended early; nil if it did neither.
	Err error
}

// attempt is a trial in progress.
type attempt struct {
	run    *run
	trial  Trial
	record func(history.Event) // adds an event to the trial's history; nil before the first client holds the lock
	tokens int
	token  error
	stats  *clientstress.Stats
	out    Outcome
}

// carryOut runs the trial. It calls begun once: when the first client holds the lock, or when the trial ends without
// that.
func (a *attempt) carryOut(ctx context.Context, begun func()) {
	told := false
	once := func() {
		if !told {
			told = true
			begun()
		}
	}
	defer once()
	t := &a.trial
	starter, kind := t.Starter, t.Kind
	if t.Design != nil {
		starter, kind = t.Design.Starter(), lock.Mutex
	}
	var urls []string
	for _, n := range t.Clients {
		urls = append(urls, a.run.config.Cluster.URL(n))
	}
	load := stress.Load{Slots: t.Slots, Clients: len(t.Clients), Rounds: 1, Seed: a.run.config.Seed}.Fit(kind)
	a.out.History, a.stats, a.out.Err = clientstress.Run(ctx, clientstress.Config{
		Starter: starter, Kind: kind, Options: t.Options, URL: urls[0], URLs: urls, Load: load, Limit: a.run.config.Limit, Sweep: a.run.config.Sweep,
		Holds: &clientstress.Holds{
			For: a.run.config.Hold, Verify: a.run.config.Verify, Again: a.run.config.Again, SetUp: a.setUp, Close: a.close,
			Begun: func(record func(history.Event)) { a.run.join(a, record); once() }, Over: a.run.over,
		},
	})
}

// setUp creates the queue of a built-in design. External clients create their own.
func (a *attempt) setUp(ctx context.Context, name string) error {
	if a.trial.Design == nil {
		return nil
	}
	return a.trial.Design.SetUp(ctx, a.run.config.Cluster.URL(a.trial.host()), name)
}

// close counts the remaining tokens when all clients have ended. Then it removes the queue of a built-in design, unless
// the cluster is private.
func (a *attempt) close(ctx context.Context, name string) error {
	err := a.count(ctx, name)
	if a.trial.Design != nil && a.run.config.Sweep != nil {
		err = errors.Join(err, a.trial.Design.Remove(ctx, a.run.config.Cluster.URL(a.trial.host()), name))
	}
	return err
}

// count counts the tokens in the queue when all clients have ended. It tries several times, because tokens that clients
// held return a moment later.
func (a *attempt) count(ctx context.Context, name string) error {
	d := a.trial.Design
	if d == nil || !d.Token {
		return nil
	}
	for range tokenTries {
		if a.tokens, a.token = d.Tokens(ctx, a.run.config.Cluster.URL(a.trial.host()), name); a.token == nil && a.tokens == 1 {
			break
		}
		select {
		case <-time.After(tokenPause):
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

const (
	tokenTries = 10
	tokenPause = 300 * time.Millisecond
)

// judge judges the trial's history and returns the outcome.
func (a *attempt) judge() Outcome {
	a.out.Trial = a.trial
	if a.out.History == nil {
		return a.out
	}
	c, source := &a.run.config, ""
	if c.Keep != nil {
		var unkept error
		source, unkept = c.Keep(a.out.History)
		a.out.Err = errors.Join(a.out.Err, unkept)
	}
	r := recorded.Certain(a.out.History, recorded.CheckOptions{Judging: engine.Judging{Properties: c.Properties}, Source: source})
	r.Tool, r.Mode, r.Broker, r.Scenarios = engine.Version, report.Stressed, c.Cluster.String(), 1
	r.Target, r.Doc = a.stats.Name, secret.Command(a.trial.Exec)
	if a.trial.Design != nil {
		r.Target, r.Doc = a.trial.Design.Name, a.trial.Design.Doc
	}
	r.Bounds, r.Operations, r.Elapsed = fmt.Sprintf("%s; choices from seed %d", a.trial.Placement(), c.Seed), a.stats.Operations, a.stats.Elapsed
	r.Exercised = []report.Exercise{
		{Name: "client that ended by itself", Scenarios: a.stats.Died}, {Name: "operation that took too long", Scenarios: a.stats.Late},
		{Name: "unknown outcome", Scenarios: a.stats.Unclear},
	}
	a.out.Measure = a.measure()
	r.Nemesis, r.Together, r.Left = befell(a.out.History), a.out.Measure.words(a.out.History), a.left()
	for i := range r.Properties {
		if p := &r.Properties[i]; p.Violation != nil && source != "" {
			p.Violation.Command = "lockproof check --audit " + source
		}
	}
	a.out.Report = r
	return a.out
}
