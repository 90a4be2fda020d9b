package gated

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/model/scenario"
)

// crew is who plays the scenarios of a run. As many workers are at work at once as the run says. While one does nothing but
// look for a second whether a client gives up waiting, its place is somebody else's: for that there is one worker more.
type crew struct {
	workers  []*worker
	errs     []error
	working  sync.WaitGroup
	places   chan struct{} // of those who are at work
	standsIn bool          // there is one worker more
	loadNow  func() load   // what the processors have done so far; nil is to ask the system
	added    int           // workers that began since others had their clients soon, or play little
	alone    atomic.Bool   // others would be in the only worker's way
	looks    int           // workers that look just now whether a client gives up
}

// soon is how long starting the clients of a worker may take for one more to be worth it, and much how many scenarios there have
// to be for it.
const (
	soon = 400 * time.Millisecond
	much = 100
)

// begin has one more worker play, and others beside it. On a broker that they share, these begin when the first one knows that
// they are not in its way; otherwise it stays alone.
func (f *sharedRun) begin(ctx context.Context, others int) {
	together := f.On.URL == ""
	if together {
		f.beginAll(ctx, others)
	}
	f.working.Go(func() {
		w, err := f.startWorker(ctx)
		switch {
		case err != nil || together:
		case w.runner.Crowds():
			f.alone.Store(true)
		default:
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
	begins := f.added < min(most, f.More) && f.to-f.next >= much && f.On.URL == ""
	if begins {
		f.added++
	}
	f.mu.Unlock()
	if begins {
		f.begin(ctx, 0)
	}
}

// What a worker plays in so long is so little that its clients wait for something, which others may do beside them.
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

// standIn has one more worker play, once, if clients like these are there soon. Clients of a run with one worker may be in
// each other's way.
func (f *sharedRun) standIn(ctx context.Context, quick bool) {
	f.mu.Lock()
	first := !f.standsIn && quick && f.Workers > 1 && !f.alone.Load()
	f.standsIn = f.standsIn || first
	f.mu.Unlock()
	if first {
		f.begin(ctx, 0)
	}
}

// place takes one of the places of those who are at work, or gives it back.
func (w *worker) place(take bool) {
	if w.placed = take; take {
		w.places <- struct{}{}
	} else {
		<-w.places
	}
}

// looking leaves the worker's place to others while it is looked whether a client gives up.
func (w *worker) looking(ctx context.Context, begins bool) {
	switch {
	case begins && w.placed:
		w.place(false)
		w.away = true
		w.looksAlso(1)
		w.standIn(ctx, w.quick)
	case !begins && w.away:
		w.away = false
		w.looksAlso(-1)
		w.place(true)
	}
}

// looksAlso counts who looks.
func (f *sharedRun) looksAlso(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks += n
}

// following is the scenario to play next. One in which a reply comes late is put off while it is being looked whether clients
// give up then: it would wait for the same.
func (f *sharedRun) following() (i int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	looking := f.looks > 0
	for ; looking && f.next < f.to && f.stalls(f.next); f.next++ {
		f.putOff = append(f.putOff, f.next)
	}
	switch {
	case len(f.putOff) > 0 && (!looking || f.next >= f.to):
		i, f.putOff = f.putOff[0], f.putOff[1:]
	case f.next < f.to:
		i, f.next = f.next, f.next+1
	default:
		return 0, false
	}
	return i, true
}

// stalls reports whether a reply comes late in the i-th scenario.
func (f *sharedRun) stalls(i int) bool {
	return slices.ContainsFunc(f.source.External(i, 0).Faults, func(fault scenario.Fault) bool { return fault.Do == scenario.Stall })
}
