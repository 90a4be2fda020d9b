package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// try gives each bug that has no result yet to the tests that come by it.
func (w *workshop) try(ctx context.Context, bugs []*bug, listed *equivalents) error {
	queue := make(chan *bug)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failure error
	for range w.options.workers {
		wg.Go(func() {
			for b := range queue {
				r, ok := w.judge(ctx, b)
				if !ok {
					continue // there is no time left
				}
				mu.Lock()
				if err := w.results.add(r); err != nil {
					failure = err
				}
				fmt.Fprintf(os.Stderr, "%d/%d %s %s %s\n", b.number, len(bugs), b.area, r.Outcome, r.By)
				mu.Unlock()
			}
		})
	}
	for _, b := range bugs {
		if _, done := w.results.of(b); done || listed.has(b) || ctx.Err() != nil {
			continue
		}
		queue <- b
	}
	close(queue)
	wg.Wait()
	return failure
}

// judge runs tests on a bug until one notices it. It reports false if it was interrupted.
func (w *workshop) judge(ctx context.Context, b *bug) (result, bool) {
	r := result{Bug: b.description(), Area: b.area, Place: fmt.Sprintf("%s/%s:%d", b.source.dir, b.name, b.line), Outcome: unreached}
	for _, batch := range w.batches(b) {
		r.Outcome = survived
		took := time.Duration(0)
		for _, t := range batch {
			took += t.Took
		}
		v, _ := w.run(ctx, batch, fmt.Sprintf("%s=%d", envBug, b.number), w.options.limit/4+10*took)
		if ctx.Err() != nil {
			return r, false
		}
		if v != passed {
			r.Outcome, r.By = killed, batch[0].Package
			if v == hanging {
				r.Outcome = timedOut
			}
			return r, true
		}
	}
	return r, ctx.Err() == nil
}

// quick is what a test takes that is run together with others.
const quick = 500 * time.Millisecond

// batches are the tests that reach a bug: those of its own package first, then the quickest.
func (w *workshop) batches(b *bug) [][]*test {
	together := make(map[string][]*test)
	var slow []*test
	for i := range w.tests {
		t := &w.tests[i]
		switch {
		case t.Fails || !slices.Contains(t.Reaches, b.number):
		case t.Took < quick && !t.part():
			together[t.Package] = append(together[t.Package], t)
		default:
			slow = append(slow, t)
		}
	}
	var all [][]*test
	for _, t := range together {
		all = append(all, t)
	}
	for _, t := range slow {
		all = append(all, []*test{t})
	}
	slices.SortFunc(all, func(x, y []*test) int {
		if own := x[0].Package == b.source.dir; own != (y[0].Package == b.source.dir) {
			if own {
				return -1
			}
			return 1
		}
		return int(cost(x) - cost(y))
	})
	return all
}

func cost(batch []*test) (sum time.Duration) {
	for _, t := range batch {
		sum += t.Took
	}
	return sum
}
