package queue

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/histories/infile"
)

// Limits for reading the files that a campaign in a folder stores for watchers.
var (
	statusInput = infile.Input{Noun: "campaign's status", Most: 1 << 20}
	pageInput   = infile.Input{Noun: "campaign's page", Most: mostBytes}
)

// Watcher observes a campaign from outside. It changes nothing, and may be any build of lockproof.
type Watcher struct {
	dir string // folder of a campaign without a server; "" if the campaign has a server
	q   *Queue
	// page identifies the last page that was returned: by the object's id, or the file's modification time.
	page string
}

// Watch finds a campaign to observe. If name is "", it must be the only campaign on the server.
func Watch(ctx context.Context, server campaign.Server, name string) (*Watcher, error) {
	if server.URL == "" {
		return &Watcher{dir: server.Dir}, nil
	}
	q, err := find(ctx, server, name)
	if err != nil {
		return nil, err
	}
	return &Watcher{q: q}, nil
}

// Close ends the observation, and closes the connection to the server.
func (w *Watcher) Close() {
	if w.q != nil {
		w.q.close()
	}
}

// Look returns the status of a campaign. If name is "", it must be the only campaign on the server.
func Look(ctx context.Context, server campaign.Server, name string) (*campaign.Status, error) {
	w, err := Watch(ctx, server, name)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return w.Look(ctx)
}

// Look returns the status of the campaign.
func (w *Watcher) Look(ctx context.Context) (*campaign.Status, error) {
	if w.q == nil {
		return lookIn(w.dir)
	}
	return w.q.look(ctx)
}

// Page returns the campaign's last stored page if it has changed since the last call. Otherwise, or if there is no
// page, it returns nil.
func (w *Watcher) Page(ctx context.Context) ([]byte, error) {
	if w.q == nil {
		return w.pageIn()
	}
	var info *jetstream.ObjectInfo
	var packed []byte
	err := w.q.persist(ctx, func(ctx context.Context) (err error) {
		info, err = w.q.objects.GetInfo(ctx, pageObject)
		return err
	})
	if err == nil && info.NUID != w.page {
		packed, err = w.q.object(ctx, pageObject)
	}
	if errors.Is(err, jetstream.ErrObjectNotFound) || err == nil && packed == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w.page = info.NUID
	page, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("queue %s: the page can't be read: %w", w.q.name, err)
	}
	return page, nil
}

// unpack decompresses a page with gzip.
func unpack(packed []byte) ([]byte, error) {
	from, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return bounded(from)
}

// pageIn is Page for a campaign in a folder.
func (w *Watcher) pageIn() ([]byte, error) {
	path := filepath.Join(w.dir, pageFile)
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	seen := info.ModTime().String()
	if seen == w.page {
		return nil, nil
	}
	w.page = seen
	return pageInput.Read(path)
}

// look returns the status that the campaign's runner has stored, updated by what the queue has counted since then.
func (q *Queue) look(ctx context.Context) (*campaign.Status, error) {
	s := &campaign.Status{Name: q.manifest.Plan.Name}
	data, err := q.noted(ctx, keyStatus)
	if err != nil {
		return nil, err
	}
	if data != nil {
		if err := json.Unmarshal(data, s); err != nil {
			return nil, fmt.Errorf("queue %s: the status of campaign %s can't be read: %w", q.name, s.Name, err)
		}
	}
	over, err := q.noted(ctx, keyOver)
	if err != nil {
		return nil, err
	}
	s.Over = string(over)
	err = q.persist(ctx, func(ctx context.Context) error {
		results, err := q.stored.Info(ctx)
		if err != nil {
			return err
		}
		s.Done = int(results.State.Msgs)
		info, err := q.workers.Info(ctx)
		if err == nil {
			s.Running = info.NumAckPending
		}
		return err
	})
	return s, err
}

func lookIn(dir string) (*campaign.Status, error) {
	data, err := statusInput.Read(filepath.Join(dir, statusFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("there is no campaign in %s: start it with lockproof campaign run, or give the server's --queue", dir)
	}
	s := new(campaign.Status)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, statusFile), err)
	}
	return s, nil
}
