package lockproof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/engine/kept"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/protocol"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
)

// run is one call of Prove, Explore, Stress or Replay: the lock, the properties to judge, and the server.
type run struct {
	Target
	o        Options
	ctx      context.Context
	kind     lock.Kind // lock type as which the target is judged
	list     own.List  // the custom properties
	judged   property.Set
	required property.Set
	broker   *rabbitmq.Broker // nil for a simulated server
	end      func()           // cancels ctx
	restarts bool             // the server must be one that can be restarted
	past     *kept.Past       // counterexamples of earlier runs, which are carried out first; nil if there are none
	earlier  *kept.Earlier    // results of running the counterexamples in past again
	known    known.Findings   // accepted violations, which do not fail the run until they expire
}

// newRun checks the target and Options, and returns a run. Its caller checks the other options, such as those of
// Sample.
func newRun(ctx context.Context, t Target, o Options) (*run, error) {
	t, kind, err := t.settled()
	if err != nil {
		return nil, err
	}
	r := &run{Target: t, o: o, ctx: ctx, kind: kind, list: listOf(o.Own)}
	if err := r.list.Check(); err != nil {
		return nil, asInvalid(err)
	}
	return r, r.judge(t.applicable(kind))
}

func (r *run) external() bool { return r.own == nil }

// judge sets the properties that are judged, and those that must not be skipped.
func (r *run) judge(applicable property.Set) (err error) {
	if r.judged, err = setOf(r.o.Properties, r.list, applicable, r.kind); err != nil {
		return err
	}
	if r.judged == 0 {
		r.judged = applicable
	}
	r.judged |= r.list.All()
	r.required, err = setOf(r.o.Require, r.list, r.judged, r.kind)
	return err
}

// simulated calls do. It returns an error if Options name a real server; verb is the caller's name in this error.
func (r *run) simulated(verb string, do func() (*Result, error)) (*Result, error) {
	if r.o.Server != "" {
		return nil, invalid("%s of %s on a real server: expected the simulated broker; Stress uses a real one", verb, r.name)
	}
	return r.guarded(do)
}

// guarded calls do. If the target is a Protocol, panics and other mistakes of its machine are returned as errors.
func (r *run) guarded(do func() (*Result, error)) (*Result, error) {
	if r.guard == nil {
		return do()
	}
	res, err := protocol.Watch(r.ctx, r.guard, r.client.limit, func(ctx context.Context) (*Result, error) {
		r.ctx = ctx
		return do()
	})
	var mistake *protocol.Error
	if errors.As(err, &mistake) {
		err = &ProtocolError{mistake.During, mistake.Why, nil, err}
	}
	return res, err
}

// on calls do. If Options name a real server, on first starts or finds it, and stops using it afterwards.
func (r *run) on(do func() (*Result, error)) (*Result, error) {
	if r.o.Server == "" {
		return r.guarded(do)
	}
	if err := r.start(); err != nil {
		return nil, err
	}
	res, err := r.guarded(do)
	r.end()
	return res, errors.Join(err, r.broker.Stop())
}

// start finds or starts the server. On a shared server, the run registers the names of its queues, so that a later run
// can delete them if this run is killed. If another run takes this run for dead, this run's context is cancelled.
func (r *run) start() (err error) {
	url := r.o.Server
	if url == "rabbitmq" {
		url = ""
	}
	if r.broker, err = rabbitmq.Start(r.ctx, rabbitmq.Options{URL: url, Flag: "Server", Restarts: r.restarts, Log: r.tell}); err != nil {
		return kindError{err, ErrNoServer}
	}
	ctx, cancel := context.WithCancel(r.ctx)
	r.end = cancel
	if r.broker.CanRestart() { // this process started the server and will stop it, so nothing has to be registered
		return nil
	}
	found, err := r.broker.Register(ctx, func(error) { cancel() }) // Stop returns the reason
	for _, left := range found.Left {
		r.tell(left)
	}
	if err != nil {
		if r.ctx.Err() != nil {
			cancel()
			return errors.Join(r.ctx.Err(), r.broker.Stop())
		}
		r.tell(err.Error() + "; what a killed run leaves there stays")
	}
	r.ctx = ctx
	return nil
}

func (r *run) tell(what string) {
	if r.o.Log != nil {
		fmt.Fprintln(r.o.Log, what)
	}
}

// until returns the properties whose violation ends the run.
func (r *run) until() property.Set {
	if r.o.First {
		return r.judged
	}
	return 0
}

// found returns the engine's callback for a violation, which calls Options.Found; nil without Found.
func (r *run) found() func(*histories.Counterexample) {
	if r.o.Found == nil {
		return nil
	}
	return func(ce *histories.Counterexample) { r.o.Found(counterexampleOf(ce, r.Target)) }
}

// progress returns the engine's callback for progress, which calls Options.Progress; nil without Progress.
func (r *run) progress() func(engine.Progress) {
	if r.o.Progress == nil {
		return nil
	}
	return func(p engine.Progress) { r.o.Progress(p.Scenarios, p.Of) }
}

// result converts what the engine returned, res and err, to the public result and error.
func (r *run) result(res *engine.Result, err error) (*Result, error) {
	if res == nil {
		return nil, public(err)
	}
	res.Report.Required = r.required
	res.Accept(r.known, time.Now())
	return resultOf(res, r.Target), public(err)
}

// sample draws executions and runs them.
func (r *run) sample(s *Sample) (*Result, error) {
	if r.external() {
		r.restarts = s.Restarts > 0
		return r.on(func() (*Result, error) { return r.proveExternal(s) })
	}
	return r.simulated("Prove", func() (*Result, error) { return r.prove(s) })
}

// carryOut runs the counterexamples of earlier runs again. It does nothing if past is nil.
func (r *run) carryOut(c kept.Carrier) (err error) {
	if r.past != nil {
		r.earlier, err = c.CarryOut(r.ctx, *r.past)
	}
	return public(err)
}

// judging returns the engine's settings for judging: the properties, and the meaning of a failed acquire.
func (r *run) judging() engine.Judging {
	return engine.Judging{Properties: r.judged, Own: r.list, FailedAcquire: r.o.failedAcquire()}
}

// sampling returns the engine's settings for drawing executions, with the properties whose violation ends the run.
func (r *run) sampling(s *Sample) (engine.Sampling, error) {
	out, err := s.sampling()
	out.Until, out.Known = r.until(), r.known
	return out, err
}

func (r *run) prove(s *Sample) (*Result, error) {
	sampling, err := r.sampling(s)
	if err != nil {
		return nil, err
	}
	c := sample.Config{Target: r.own, Options: r.options, Sampling: sampling, Judging: r.judging(), Found: r.found(), Progress: r.progress()}
	if err := r.carryOut(c); err != nil {
		return nil, err
	}
	c.Earlier = r.earlier
	return r.result(sample.Prove(r.ctx, c))
}

func (r *run) explore(b *Bounds) (*Result, error) {
	if b.Executions != 0 {
		return nil, invalid("Executions %d in an exploration of a lock that is simulated: expected Simulate, for random ones", b.Executions)
	}
	admins := 1
	if r.kind == lock.Mutex {
		admins = 0
	}
	e, err := b.exploration(admins, 2, 1)
	if err != nil {
		return nil, err
	}
	e.Target, e.Options, e.Judging = r.own, r.options, r.judging()
	x, err := explore.Run(r.ctx, e)
	if err != nil {
		return nil, public(err)
	}
	if x.Search != nil {
		err = x.Search.Err
	}
	return r.result(&x.Result, err)
}

// asAny calls judge. If the type of a lock written in Go is unknown, it is judged as a semaphore first. If its clients
// then turn out to have no Create, Destroy and Count, it is judged again as a mutex.
func (r *run) asAny(judge func() (*engine.Result, error)) (*Result, error) {
	res, err := judge()
	if r.Target.kind == "" && errors.Is(err, inprocess.ErrNoAdministrator) {
		r.kind = lock.Mutex
		r.tell(fmt.Sprintf("%s is taken for a mutex: its clients have no Create, Destroy and Count", r.name))
		if err := r.judge(r.applicable(r.kind)); err != nil {
			return nil, err
		}
		res, err = judge()
	}
	return r.result(res, err)
}

func (r *run) proveExternal(s *Sample) (*Result, error) {
	c := gated.Config{Judging: r.judging(), Found: r.found(), Progress: r.progress()}
	var err error
	if c.Sampling, err = r.sampling(s); err != nil {
		return nil, err
	}
	if c.Lock, err = r.lock(); err != nil {
		return nil, err
	}
	if r.exec != "" && s.Workers == 0 {
		c.More = gated.MoreWorkers * runtime.GOMAXPROCS(0)
	}
	if err := r.carryOut(c); err != nil {
		return nil, err
	}
	c.Earlier = r.earlier
	return r.asAny(func() (*engine.Result, error) {
		c.Kind, c.Judging = r.kind, r.judging()
		return gated.Prove(r.ctx, c)
	})
}

// lock returns the external target with the server that it uses.
func (r *run) lock() (l gated.Lock, err error) {
	on, err := r.gated()
	if err != nil {
		return l, err
	}
	return r.Target.lock(r.kind, on, r.o.Log)
}

// gated returns the server that external clients reach through the gate.
func (r *run) gated() (on gated.Server, err error) {
	switch {
	case r.broker == nil:
		return gated.ServerOf(r.client.server, r.client.servers)
	case r.client.server != "" && r.client.server != gated.AMQP:
		return on, invalid("a server of the kind %s on a RabbitMQ: leave out one of them", r.client.server)
	}
	b := r.broker
	return gated.Server{
		Name: b.String(), Shared: true,
		Open: plugin.Config{URL: b.URL, Sweep: b.Sweep, Notes: b, Version: b.Version}.Open,
	}, nil
}

func (r *run) exploreExternal(b *Bounds) (*Result, error) {
	switch {
	case b.From != nil:
		return nil, invalid("a counterexample to begin in, of an external lock: expected one that is simulated")
	case b.Simulate != 0:
		return nil, invalid("Simulate %d in an exploration of an external target: expected none; Prove draws executions", b.Simulate)
	case b.Restarts > 0:
		return nil, invalid("restarts in an exploration of an external target: expected none; Prove draws them")
	case b.unbounded():
		return nil, invalid("any number of external clients: expected a number")
	}
	e, err := b.exploration(0, 1, 0) // no crashes by default: executions with crashes take long
	if err != nil {
		return nil, err
	}
	c := gated.ExploreConfig{Workload: e.Workload, Executions: b.Executions, First: b.First, Found: r.found(), Progress: r.progress()}
	if c.Lock, err = r.lock(); err != nil {
		return nil, err
	}
	return r.asAny(func() (*engine.Result, error) {
		c.Kind, c.Judging = r.kind, r.judging()
		return gated.Explore(r.ctx, c)
	})
}

// keep writes the history of a run to Load.History, if this is set. Stress calls it before it judges the history.
func (o *Load) keep(h *history.History, _ string) (string, error) {
	if o.History == nil {
		return "", nil
	}
	return "", histories.WriteHistory(o.History, h)
}

// judgedByHistory returns the settings for judging a run by its history alone: properties that need more are left out.
func (r *run) judgedByHistory() engine.Judging {
	j := r.judging()
	j.Properties &= property.Applicable(r.kind)
	return j
}

func (r *run) stress(l *Load) (*Result, error) {
	load, err := l.load(r.kind)
	if err != nil {
		return nil, err
	}
	return r.result(recorded.Stress(r.ctx, r.broker, recorded.StressConfig{
		Target: r.own, Options: r.options, Load: load, Restarts: or(l.Restarts, 0), Judging: r.judgedByHistory(), Keep: l.keep,
	}))
}

func (r *run) stressExternal(l *Load) (*Result, error) {
	options := make(map[string]any)
	for name, value := range r.told() {
		options[name] = value
	}
	return r.asAny(func() (*engine.Result, error) {
		load, err := l.load(r.kind)
		if err != nil {
			return nil, err
		}
		return recorded.StressExternal(r.ctx, recorded.ExternalStressConfig{
			Config: clientstress.Config{
				Starter: r.starter(r.o.Log), Kind: r.kind, Options: options, URL: r.broker.URL, Proxy: l.Proxy, Load: load,
				Limit: r.client.limit, Sweep: r.broker.Sweep, Notes: r.broker,
			},
			Exec: r.exec, Name: r.label(), Broker: r.broker.String(), Judging: r.judgedByHistory(), Keep: l.keep,
		})
	})
}

func (r *run) replay(ce *histories.Counterexample) (*Result, error) {
	x := engine.ReplayOf(r.own, r.list, ce)
	var err error
	if r.broker != nil {
		err = x.On(r.ctx, r.broker)
	}
	return r.replayed(ce, x, err)
}

func (r *run) replayExternal(ce *histories.Counterexample) (*Result, error) {
	on, err := r.gated()
	if err != nil {
		return nil, err
	}
	x, err := gated.ReplayOf(r.ctx, r.list, ce, r.starter(r.o.Log), on)
	return r.replayed(ce, x, err)
}

// replayed returns the result of a replay x. It judges only the property that the counterexample ce violates.
func (r *run) replayed(ce *histories.Counterexample, x *engine.Replayed, err error) (*Result, error) {
	if err != nil {
		return nil, public(err)
	}
	server := cmp.Or(x.Server, engine.Simulated)
	if r.broker != nil {
		server = r.broker.String()
	}
	res := &engine.Result{Report: x.Report(ce, server)}
	out, err := r.result(res, nil)
	out.page, out.diagram = x.WritePage, engine.Drawing(x.Trace)
	return out, err
}
