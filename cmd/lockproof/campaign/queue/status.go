package queue

import (
	"context"
	"io"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// telling is the interval between two reports of a campaign's progress.
const telling = time.Second

// statusFile is the name of the status file of a campaign whose queue is in a folder.
const statusFile = "status.json"

// tell reports the campaign's progress if the interval is over.
func (r *run) tell() {
	if time.Since(r.told) < telling {
		return
	}
	if r.told.IsZero() {
		r.found = r.job.Progress().Executions
	}
	r.told = time.Now()
	s := r.status()
	if r.config.Watch != nil {
		r.config.Watch(s)
	}
	r.leave(s)
	r.page(s)
}

// leave stores the status for watchers. An error does not stop the campaign.
func (r *run) leave(s *campaign.Status) {
	data, err := json.Marshal(s)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	_, _ = r.state.Put(ctx, keyStatus, data)
	_, _ = r.state.Put(ctx, keyElapsed, []byte(r.elapsed().String()))
	if r.config.Server.URL == "" {
		_ = r.config.Server.File(statusFile).Write(func(w io.Writer) error { _, err := w.Write(data); return err })
	}
}

func (r *run) status() *campaign.Status {
	s := &campaign.Status{
		Name: r.manifest.Plan.Name, Progress: r.job.Progress(), Done: r.next + len(r.waiting), Redelivered: r.redelivered, Refused: r.count,
		Seconds: r.elapsed().Seconds(), At: time.Now(),
	}
	if took := time.Since(r.began).Seconds(); took > 0 {
		s.PerSecond = float64(s.Executions-r.found) / took
	}
	if s.PerSecond > 0 && s.Of > s.Executions {
		s.Left = float64(s.Of-s.Executions) / s.PerSecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	if info, err := r.workers.Info(ctx); err == nil {
		s.Running = info.NumAckPending
		s.Redelivered += info.NumRedelivered
	}
	return s
}
