package histories

import (
	"errors"
	"io"
	"slices"

	"github.com/lockproof/lockproof/model/history"
)

// Recording is a recorded history that is read event by event, as often as it takes, so that it may be of any length. Only
// one that cannot be read twice, as it comes through a pipe, is kept in memory.
type Recording struct {
	history *history.History // without its events, but where it is kept
	notes   Notes
	kept    bool
	file    io.ReadSeeker
	start   int64 // where it begins
	name    string
	assumed Header
}

// NewRecording begins to read a history, as [ReadHistory] does.
func NewRecording(r io.Reader, name string, assumed Header) (*Recording, error) {
	rec := &Recording{name: name, assumed: assumed}
	var err error
	if rec.file, rec.start, rec.kept = seekable(r); rec.kept {
		rec.history, rec.notes, err = ReadHistory(r, name, assumed)
		return rec, err
	}
	in, err := eventsOf(r, name, assumed)
	if err != nil {
		return nil, err
	}
	rec.history = in.history
	return rec, nil
}

// seekable is what is read as something that can be read again from where it stands, unless it cannot.
func seekable(r io.Reader) (file io.ReadSeeker, start int64, not bool) {
	file, ok := r.(io.ReadSeeker)
	if !ok {
		return nil, 0, true
	}
	start, err := file.Seek(0, io.SeekCurrent)
	return file, start, err != nil
}

// History is what the history is of, without its events.
func (r *Recording) History() *history.History {
	h := *r.history
	h.Events = nil
	return &h
}

// Notes are what was passed over when the history was read to its end.
func (r *Recording) Notes() Notes { return r.notes }

// Each gives the events from the first on, until they are over or the error is not nil, which is returned then.
func (r *Recording) Each(event func(e *history.Event) error) error {
	if r.kept {
		for i := range r.history.Events {
			if err := event(&r.history.Events[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := r.file.Seek(r.start, io.SeekStart); err != nil {
		return err
	}
	in, err := eventsOf(r.file, r.name, r.assumed)
	if err != nil {
		return err
	}
	if err := in.each(event); err != nil {
		return err
	}
	r.notes = *in.notes
	return nil
}

// errEnough ends reading.
var errEnough = errors.New("enough was read")

// Some reports whether there is an event of which something is true.
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

// Whole is the history with its events; nil if there are more of them than so many.
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
