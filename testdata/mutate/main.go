package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// maxSurvivors is how many of a hundred bugs may survive.
const maxSurvivors = 3

// nearby are the packages that bugs are injected into, and those whose tests are about nothing else. A bug counts as not
// noticed if only tests of whole programs, of servers or of other languages' clients notice it. They take minutes, and the
// fact that fails there should be stated where the bug is.
const nearby = "sim/amqp/broker,sim,sim/search,sim/search/anynumber,sim/search/states,sim/nearest,model/property,model/history,model/monitor,model/linear,model/beliefs,model/lock,model/amqp/amqplock,sim/shrink,histories,histories/draw,histories/report,histories/style,histories/safetext,model/amqp/mutant,adapters/amqp/rabbitmq,sim/amqp/consumption,sim/redis,sim/sql/rowstore,sim/sql,sim/consul,model/judge,model/own,model/execution,model/scenario,model/backend,adapters/explorer"

func main() {
	var o options
	flag.IntVar(&o.size, "n", 300, "how many bugs to inject, in equal parts for each area; 0 is all")
	flag.Uint64Var(&o.seed, "seed", 1, "the seed of the sample")
	flag.StringVar(&o.area, "area", "", "inject into this area only: broker, monitor, checker, search, readers, minimiser or reports")
	flag.StringVar(&o.only, "only", "", "inject only the bugs whose description contains this")
	flag.StringVar(&o.tests, "tests", nearby, "give the bugs to the tests of these packages only: folders, with commas between them; all of them if it is empty")
	flag.StringVar(&o.again, "again", "", "inject only what survived according to this results file of an earlier run")
	flag.StringVar(&o.dir, "dir", "", "where the copy and the results are kept (default: one place for each sample, below the temporary directory)")
	flag.IntVar(&o.workers, "workers", 2, "how many bugs are tried at a time")
	flag.DurationVar(&o.limit, "limit", time.Minute, "how long a test may take of the processor; with a bug, a quarter of that and ten times what it took without")
	flag.DurationVar(&o.most, "for", 0, "end after this time, to be gone on with later; 0 is no bound")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if o.most > 0 {
		ctx, cancel = context.WithTimeout(ctx, o.most)
		defer cancel()
	}
	begin := time.Now()
	s, err := run(ctx, ".", o)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "mutate: ended before the first bug was tried: the same command goes on")
		os.Exit(exitUntried)
	default:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	s.print(os.Stdout)
	fmt.Printf("%v, results in %s\n", time.Since(begin).Round(time.Second), s.results)
	os.Exit(s.code())
}

// options are the flags.
type options struct {
	size            int
	seed            uint64
	area, only, dir string
	again, tests    string
	workers         int
	limit, most     time.Duration
}

// run takes the sample of the module in a folder, builds it and tries each of its bugs.
func run(ctx context.Context, dir string, o options) (*summary, error) {
	m, err := openModule(ctx, dir)
	if err != nil {
		return nil, err
	}
	listed, err := readEquivalents(m.root + "/testdata/mutate/equivalent.txt")
	if err != nil {
		return nil, err
	}
	bugs, err := m.bugs()
	if err != nil {
		return nil, err
	}
	s := &summary{points: len(bugs), stale: listed.stale(bugs)}
	chosen, err := m.choose(bugs, o)
	if err != nil {
		return nil, err
	}
	w, err := openWorkshop(ctx, m, chosen, o)
	if err != nil {
		return nil, err
	}
	defer w.close()
	s.results = w.results.path
	err = w.try(ctx, chosen, listed)
	s.count(chosen, listed, w.results)
	s.left = w.left
	return s, err
}
