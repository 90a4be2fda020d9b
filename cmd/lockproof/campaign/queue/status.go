package queue

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/histories/outfile"
)

// telling is how often a campaign's progress is printed.
const telling = time.Second

// statusFile is where a campaign without a server's address has its status.
const statusFile = "status.json"

// tell tells how far the campaign is, now and then.
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

// leave leaves the status where it is looked for. That is for people: should it fail, the campaign goes on.
func (r *run) leave(s *campaign.Status) {
	data, err := json.Marshal(s)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	_, _ = r.state.Put(ctx, keyStatus, data)
	_, _ = r.state.Put(ctx, keyElapsed, []byte(r.elapsed().String()))
	if dir := r.config.Server.Dir; r.config.Server.URL == "" {
		_ = outfile.WriteNamed(filepath.Join(dir, statusFile), func(w io.Writer) error { _, err := w.Write(data); return err })
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
