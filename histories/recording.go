package histories

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lockproof/lockproof/model/history"
)

// Recording is a recorded history that is read event by event, in any number of passes. Its length is therefore not
// limited. Input from a pipe cannot be read twice, so it is copied to memory, or to a temporary file if it is large.
// Close deletes the copy.
type Recording struct {
	history *history.History // the history without its events
	notes   Notes
	file    io.ReadSeeker
	start   int64  // where the history begins in the file, in bytes
	pipe    *spool // the pipe with its copy, if the input is a pipe; else nil
	name    string
	assumed Header
	keys    *keys // keys of values that are pairs; nil if the values are no pairs
	clients identities
	spanned *spanned // what is known of the spans of a history of spans; else nil
}

// NewRecording begins to read a history, as [ReadHistory] does. The caller closes it.
func NewRecording(r io.Reader, name string, assumed Header) (*Recording, error) {
	return newRecording(r, name, assumed, usualSpool)
}

func newRecording(r io.Reader, name string, assumed Header, limits spoolLimits) (*Recording, error) {
	rec := &Recording{name: name, assumed: assumed}
	rec.seekable(r, limits)
	if err := rec.encoding(); err != nil {
		return nil, errors.Join(err, rec.Close())
	}
	if err := rec.spans(); err != nil {
		return nil, errors.Join(err, rec.Close())
	}
	var in *events
	var err error
	if rec.keys, err = keysOf(rec.file, name, assumed); err == nil {
		in, err = rec.again()
	}
	if err != nil {
		return nil, errors.Join(err, rec.Close())
	}
	rec.history = in.history
	return rec, nil
}

// spans converts OpenTelemetry's spans to a history, if the input has spans.
func (r *Recording) spans() error {
	is := isSpans(r.file)
	if _, err := r.file.Seek(r.start, io.SeekStart); err != nil || !is {
		return err
	}
	text, about, err := readSpans(r.file, r.name, r.assumed)
	if err != nil {
		return err
	}
	r.file, r.start, r.spanned = bytes.NewReader(text), 0, about
	return nil
}

// seekable makes the input one that can be read again from its present position, by copying it if it is a pipe.
func (r *Recording) seekable(from io.Reader, limits spoolLimits) {
	if file, ok := from.(io.ReadSeeker); ok {
		if start, err := file.Seek(0, io.SeekCurrent); err == nil {
			r.file, r.start = file, start
			return
		}
	}
	r.pipe = &spool{from: from, limits: limits}
	r.file = r.pipe
}

// encoding passes over the mark of UTF-8 at the beginning, and refuses what is no text in UTF-8.
func (r *Recording) encoding() error {
	start := make([]byte, 3)
	n, err := io.ReadFull(r.file, start)
	if start = start[:n]; err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	found := ""
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		r.start += 3
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")), n > 1 && (start[0] == 0) != (start[1] == 0):
		found = "UTF-16"
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		found = "a file that gzip has compressed"
	case bytes.HasPrefix(start, []byte("\x28\xb5\x2f")):
		found = "a file that zstd has compressed"
	}
	if found != "" {
		return atLine(r.name, 1, wrong("", found, "text in UTF-8"))
	}
	_, err = r.file.Seek(r.start, io.SeekStart)
	return err
}

// Close deletes the temporary copy. The original file stays open.
func (r *Recording) Close() error {
	if r.pipe == nil {
		return nil
	}
	return r.pipe.Close()
}

// History returns the description of the history: its locks and clients, without the events.
func (r *Recording) History() *history.History {
	h := *r.history
	h.Events = nil
	if r.spanned != nil {
		h.Called, h.Places = r.spanned.called, r.spanned.places
	}
	return &h
}

// Notes are the notes on what the last pass skipped.
func (r *Recording) Notes() Notes {
	n := r.notes
	if r.spanned != nil {
		n.Spanned, n.Spans = true, r.spanned.other
	}
	return n
}

// Hosts is the number of machines whose clocks order a history of spans; 0 for other histories.
func (r *Recording) Hosts() int {
	if r.spanned == nil {
		return 0
	}
	return r.spanned.hosts
}

// again begins another pass over the history.
func (r *Recording) again() (*events, error) {
	if _, err := r.file.Seek(r.start, io.SeekStart); err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	return eventsOf(r.file, r.name, r.assumed, r.keys)
}

// Each calls event with each event of the history. If event returns an error, Each stops and returns it.
func (r *Recording) Each(event func(e *history.Event) error) error {
	in, err := r.again()
	if err != nil {
		return err
	}
	err = in.each(event)
	r.notes, r.clients = *in.notes, *in.clients
	r.notes.Timeless = in.clients.timeless
	return err
}

// errEnough stops a pass early.
var errEnough = errors.New("enough was read")

// Some reports whether any event satisfies a condition.
func (r *Recording) Some(of func(e *history.Event) bool) (bool, error) {
	err := r.Each(func(e *history.Event) error {
		if of(e) {
			return errEnough
		}
		return nil
	})
	if err == errEnough {
		return true, nil
	}
	return false, err
}

// Whole returns the history with its events; nil if it has more than most events.
func (r *Recording) Whole(most int) (*history.History, error) {
	h := r.History()
	more, err := r.Some(func(e *history.Event) bool {
		h.Events = append(h.Events, *e)
		return len(h.Events) > most
	})
	if err != nil || more {
		return nil, err
	}
	h.Events = slices.Clip(h.Events)
	return h, nil
}
