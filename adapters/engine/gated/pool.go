package gated

import (
	"context"
	"sync"
	"time"
)

// pool contains the workers that run the scenarios of a run. It begins with the configured number of workers. Extra
// workers start while the processors have little to do.
type pool struct {
	workers []*worker
	errs    []error
	working sync.WaitGroup
	loadNow func() load // reads the load of the processors; nil means loadNow
	added   int         // number of extra workers, started because clients start quickly or wait long
}

// An extra worker starts only if starting a worker's clients took less than soon, and only if at least much scenarios
// are left.
const (
	soon = 400 * time.Millisecond
	much = 100
)

// begin starts one worker, and then others more. On a shared server the others start only if the first worker finds
// that workers do not disturb each other.
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

// join adds a worker whose clients are ready. If they were ready soon, it starts an extra worker.
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

// A worker that runs fewer than little executions in the time slowly has clients that wait for something. Meanwhile, an
// extra worker may use the processors.
const (
	slowly = 2 * time.Second
	little = 8
)

// pace counts the executions of a worker since a time.
type pace struct {
	since  time.Time
	load   load
	played int // number of executions
}

// paceNow returns a pace that begins now.
func (f *sharedRun) paceNow() pace {
	look := loadNow
	if f.loadNow != nil {
		look = f.loadNow
	}
	return pace{since: time.Now(), load: look()}
}

// crawls starts an extra worker if this worker has run few executions recently. Usually there are at most as many extra
// workers as configured workers. There may be more if processors are idle and clients start quickly, because then the
// clients wait for their own clocks.
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

// beginAll starts several workers.
func (f *sharedRun) beginAll(ctx context.Context, workers int) {
	for range workers {
		f.begin(ctx, 0)
	}
}

// following returns the number of the next scenario; ok is false if none is left.
func (f *sharedRun) following() (i int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next >= f.to {
		return 0, false
	}
	f.next++
	return f.next - 1, true
}
