package rabbitmq

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockproof/lockproof/histories/leftover"
)

// Names that do not carry a run's mark are proved to be the run's by a file that only our user can write: anybody may write
// to a queue of notes on a broker that is shared. The file is in the user's configuration directory, is named after the
// run's mark, and is locked while the run lives. Its lines are the things that the run is about to make, or knows to be gone.

// account is the file of a run. It begins with the broker's address.
type account struct {
	file  *leftover.File
	at    string
	lines int
}

// line is a line of an account.
type line struct {
	thing
	Gone bool `json:"gone,omitempty"`
}

// accountsDir is the folder of accounts.
func (b *Broker) accountsDir() (string, error) {
	if b.accounts != "" {
		return b.accounts, nil
	}
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "lockproof", "rabbitmq"), err
}

// openAccount makes the account of this run.
func openAccount(dir, mark, at string) (*account, error) {
	f, err := leftover.Create(filepath.Join(dir, mark))
	if err != nil {
		return nil, err
	}
	a := &account{file: f, at: at}
	if err := a.begin(nil); err != nil {
		return nil, errors.Join(err, f.Remove())
	}
	return a, nil
}

// begin writes the account anew, with what there may be.
func (a *account) begin(kept map[thing]bool) error {
	if err := a.file.Empty(); err != nil {
		return err
	}
	a.lines = 0
	if _, err := a.file.Write([]byte(a.at + "\n")); err != nil {
		return err
	}
	for t := range kept {
		if t.marked() {
			continue
		}
		if err := a.write(line{thing: t}); err != nil {
			return err
		}
	}
	return nil
}

// accountOf is the account of a run that has ended, nil where it has none here that can be trusted. While the run lives it
// is an error.
func accountOf(dir, mark, at string) (*account, error) {
	if dir == "" {
		return nil, nil
	}
	f, err := leftover.Open(filepath.Join(dir, mark))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading what that run has made: %w", err)
	}
	return &account{file: f, at: at}, nil
}

// write adds a line. An account is in one write or not at all, as far as anybody is there to see it.
func (a *account) write(l line) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	a.lines++
	_, err = a.file.Write(append(data, '\n'))
	return err
}

// things are what the run had made, as far as is known, or had been about to.
func (a *account) things() (map[thing]bool, error) {
	data, err := a.file.Read()
	if err != nil {
		return nil, err
	}
	there := make(map[thing]bool)
	first, data, _ := bytes.Cut(data, []byte("\n"))
	if string(first) != a.at {
		return nil, nil // they are on another broker
	}
	for text := range bytes.Lines(data) {
		var l line
		if json.Unmarshal(text, &l) != nil || !l.one() {
			continue // a line that a killed run has not written to its end
		}
		if there[l.thing] = true; l.Gone {
			delete(there, l.thing)
		}
	}
	return there, nil
}

// name is what the thing is called.
func (t thing) name() string { return cmp.Or(t.Queue, t.Exchange) }

// one reports whether it is one thing: a queue or an exchange.
func (t thing) one() bool { return (t.Queue == "") != (t.Exchange == "") }
