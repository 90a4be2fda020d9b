package campaign

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/histories/outfile"
)

// Status is how far a campaign is.
type Status struct {
	Name string `json:"name"`
	Progress
	Done        int     `json:"done"`        // shards
	Running     int     `json:"running"`     // shards that workers have at this moment
	Redelivered int     `json:"redelivered"` // how often a shard was given to a worker again
	PerSecond   float64 `json:"per_second"`  // executions, since this run of it began
	Seconds     float64 `json:"seconds"`     // the campaign has run for
	Left        float64 `json:"left"`        // seconds until its end, at that rate; 0 is not known
	Over        string  `json:"over,omitempty"`
	// Reported says that it is over and reported: what it came to was made smaller.
	Reported bool `json:"reported"`
	// At is when that was so.
	At time.Time `json:"at"`

	sofar func() *Outcome
}

// Sofar is what the campaign has come to at this moment, nil where there is nothing to show yet. Nothing of it was
// made smaller.
func (s *Status) Sofar() *Outcome {
	if s.sofar == nil {
		return nil
	}
	out := s.sofar()
	if out != nil {
		out.finish(time.Duration(s.Seconds*float64(time.Second)), false)
	}
	return out
}

// abandoned is after how long without news of a campaign nobody seems to run it.
const abandoned = 10 * time.Second

// String is the status in a line.
func (s *Status) String() string {
	out := []string{fmt.Sprintf("%d of %d shards", s.Done, s.Shards)}
	if s.Over == "" {
		out = append(out, fmt.Sprintf("%d running", s.Running))
	}
	out = append(out, fmt.Sprintf("%d redelivered", s.Redelivered), fmt.Sprintf("%d %s", s.Executions, cmp.Or(s.Unit, executions)))
	if s.PerSecond > 0 && s.Over == "" {
		out = append(out, fmt.Sprintf("%.0f a second", s.PerSecond))
	}
	if len(s.Violated) > 0 {
		out = append(out, "violated: "+strings.Join(s.Violated, " "))
	} else {
		out = append(out, "no violation")
	}
	switch {
	case s.Over != "" && s.Reported:
		out = append(out, "over: "+s.Over)
	case s.Over != "":
		out = append(out, "over: "+s.Over+"; the card is being made")
	case !s.At.IsZero() && time.Since(s.At) > abandoned:
		out = append(out, "nobody has run it since "+s.At.Format(time.DateTime))
	case s.Left > 0:
		out = append(out, "about "+time.Duration(s.Left*float64(time.Second)).Round(time.Second).String()+" left")
	}
	return strings.Join(out, ", ")
}

// WriteStatus writes a status as a line of JSON.
func WriteStatus(w io.Writer, s *Status) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// telling is how often it is told how far a campaign is.
const telling = time.Second

// statusFile is where a campaign without a server's address has its status.
const statusFile = "status.json"

// tell tells how far the campaign is, now and then.
func (r *run) tell() {
	if time.Since(r.told) < telling {
		return
	}
	if r.told.IsZero() {
		r.found = r.job.progress().Executions
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
func (r *run) leave(s *Status) {
	data, err := json.Marshal(s)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	_, _ = r.state.Put(ctx, keyStatus, data)
	_, _ = r.state.Put(ctx, keyElapsed, []byte(r.elapsed().String()))
	if dir := r.config.Server.Dir; r.config.Server.URL == "" {
		_ = outfile.Write(filepath.Join(dir, statusFile), func(w io.Writer) error { _, err := w.Write(data); return err })
	}
}

func (r *run) status() *Status {
	s := &Status{
		Name: r.manifest.Plan.Name, Progress: r.job.progress(), Done: r.next + len(r.waiting), Redelivered: r.again,
		Seconds: r.elapsed().Seconds(), At: time.Now(), sofar: r.job.sofar,
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
