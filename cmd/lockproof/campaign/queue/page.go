package queue

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"time"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// The keys under which pages for watchers are stored.
const (
	pageFile   = "page.html"
	pageObject = "page" // the page, compressed with gzip
)

// The interval between two pages of a running campaign. It is longer if making a page takes long.
const (
	paging    = 10 * time.Second
	pagesMost = 20 // the interval is at least this many times the time for making a page
)

// page makes a page of the campaign's results and stores it, if the interval is over.
func (r *run) page(s *campaign.Status) {
	if r.config.Page == nil || time.Since(r.paged) < max(paging, pagesMost*r.paging) {
		return
	}
	began := time.Now()
	if out := r.sofar(s); out != nil {
		r.leavePage(r.config.Page(out, s))
	}
	r.paged, r.paging = time.Now(), time.Since(began)
}

// sofar returns the campaign's outcome so far, not minimised; nil if there is nothing to show yet.
func (r *run) sofar(s *campaign.Status) *campaign.Outcome {
	out := r.job.Sofar()
	if out != nil {
		out.Finish(time.Duration(s.Seconds*float64(time.Second)), false)
	}
	return out
}

// lastPage stores the last page of a campaign that is over, or of a run that was interrupted.
func (r *run) lastPage(out *campaign.Outcome) {
	if r.config.Page != nil {
		r.leavePage(r.config.Page(out, nil))
	}
}

// leavePage stores a page for watchers. An error does not stop the campaign.
func (r *run) leavePage(page []byte) {
	if r.config.Server.URL == "" {
		_ = r.config.Server.File(pageFile).Write(func(w io.Writer) error { _, err := w.Write(page); return err })
		return
	}
	var packed bytes.Buffer
	to := gzip.NewWriter(&packed)
	_, _ = to.Write(page) // a bytes.Buffer returns no errors
	_ = to.Close()
	ctx, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	_, _ = r.objects.PutBytes(ctx, pageObject, packed.Bytes())
}
