package gated

import (
	"context"
	"sync"
	"time"
)

// pool is the workers that run the scenarios of a run. The configured number of workers run in parallel, and more while the
// processors have little to do.
type pool struct {
	workers []*worker
	errs    []error
	working sync.WaitGroup
	loadNow func() load // reads the load of the processors; nil asks the system
	added   int         // extra workers, started because others started quickly or wait for their clients
}

// soon is the maximum time for starting a worker's clients, and much is the minimum number of scenarios, for an extra worker
// to be worthwhile.
const (
	soon = 400 * time.Millisecond
	much = 100
)

// begin starts another worker, and others in addition. On a shared server the others start when the first worker knows that
// it does not disturb them; otherwise it stays alone.
func (f *sharedRun) begin(ctx context.Context, others int) {
	together := !f.On.Shared
	if together {
		f.beginAll(ctx, others)
	}
	f.working.Go(func() {
		w, err := f.startWorker(ctx)
		switch {
		case err != nil || together:
		case !w.runner.Crowds():
			f.beginAll(ctx, others)
		}
		if err == nil {
			f.join(ctx, w)
			err = w.work(ctx)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.errs = append(f.errs, quietly(ctx, err))
	})
}

// join adds a worker whose clients are ready, and starts another if they were ready soon.
func (f *sharedRun) join(ctx context.Context, w *worker) {
	f.mu.Lock()
	f.workers = append(f.workers, w)
	f.mu.Unlock()
	if w.quick {
		f.another(ctx, f.Workers)
	}
}

// another starts one more extra worker, if there are fewer than most.
func (f *sharedRun) another(ctx context.Context, most int) {
	f.mu.Lock()
	begins := f.added < min(most, f.More) && f.to-f.next >= much && !f.On.Shared
	if begins {
		f.added++
	}
	f.mu.Unlock()
	if begins {
		f.begin(ctx, 0)
	}
}

// A worker that runs this few executions in this time has clients that wait for something. Other workers may use the
// processors meanwhile.
const (
	slowly = 2 * time.Second
	little = 8
)

// pace is the number of executions of a worker since a time.
type pace struct {
	since  time.Time
	load   load
	played int // number of executions
}

// paceNow is the pace of a worker that begins now.
func (f *sharedRun) paceNow() pace {
	look := loadNow
	if f.loadNow != nil {
		look = f.loadNow
	}
	return pace{since: time.Now(), load: look()}
}

// crawls starts an extra worker if this one has run few executions recently. The number of extra workers is at most the
// configured number of workers. It may be higher while processors are idle, if clients start quickly: then the clients wait
// for their own clocks.
func (w *worker) crawls(ctx context.Context) {
	if w.pace.played++; time.Since(w.pace.since) < slowly {
		return
	}
	now := w.paceNow()
	if w.pace.played < little {
		most := w.Workers
		if used, ok := now.load.processors(w.pace.load); ok && w.quick && used < 0.75*float64(w.Workers) {
			most = w.More
		}
		w.another(ctx, most)
	}
	w.pace = now
}

// beginAll starts a number of additional workers.
func (f *sharedRun) beginAll(ctx context.Context, workers int) {
	for range workers {
		f.begin(ctx, 0)
	}
}

// following is the number of the next scenario; ok is false if there is none.
func (f *sharedRun) following() (i int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next >= f.to {
		return 0, false
	}
	f.next++
	return f.next - 1, true
}
