package gated

import (
	"context"
	"sync"
	"time"
)

// pool is the workers that run the scenarios of a run. As many are at work at once as the run says, and more while the
// processors have little to do.
type pool struct {
	workers []*worker
	errs    []error
	working sync.WaitGroup
	loadNow func() load // what the processors have done so far; nil is to ask the system
	added   int         // workers that began since others had their clients soon, or play little
}

// soon is how long starting the clients of a worker may take for one more to be worth it, and much how many scenarios there have
// to be for it.
const (
	soon = 400 * time.Millisecond
	much = 100
)

// begin has one more worker play, and others beside it. On a server that they share, these begin when the first one knows that
// they are not in its way; otherwise it stays alone.
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

// join takes a worker whose clients are there, and begins another if they were there soon.
func (f *sharedRun) join(ctx context.Context, w *worker) {
	f.mu.Lock()
	f.workers = append(f.workers, w)
	f.mu.Unlock()
	if w.quick {
		f.another(ctx, f.Workers)
	}
}

// another has one worker more play, if so many more may.
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

// A worker that runs as little as this in so long has clients that wait for something. Other workers may use the processors
// meanwhile.
const (
	slowly = 2 * time.Second
	little = 8
)

// pace is what a worker has played since then.
type pace struct {
	since  time.Time
	load   load
	played int // executions
}

// paceNow is that of a worker that has played nothing yet.
func (f *sharedRun) paceNow() pace {
	look := loadNow
	if f.loadNow != nil {
		look = f.loadNow
	}
	return pace{since: time.Now(), load: look()}
}

// crawls has another worker play if this one has played little of late. There may be as many of them again as workers were asked
// for, and more while processors have nothing to do, if clients begin soon: then they wait for their own clocks.
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

// beginAll has so many workers more play.
func (f *sharedRun) beginAll(ctx context.Context, workers int) {
	for range workers {
		f.begin(ctx, 0)
	}
}

// following is the scenario to play next; ok is false if there is none.
func (f *sharedRun) following() (i int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next >= f.to {
		return 0, false
	}
	f.next++
	return f.next - 1, true
}
