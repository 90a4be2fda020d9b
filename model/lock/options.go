package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Options are how a lock is set that stands on one kind of server. A value is immutable, and two are equal (==) where all of
// their options are. A backend makes them with a [Table].
type Options interface {
	// Server is the name of the backend whose options they are.
	Server() string
	// Defaults are the safe and cheap settings of the same backend.
	Defaults() Options
	// Table describes every option, in an order that does not change.
	Table() []Option
	// Value is what an option is set to, "" if there is none of that name.
	Value(name string) string
	// With is the options and one set otherwise. The error names the option, and is [ErrUnknownOption] if there is none.
	With(name, value string) (Options, error)
	// Changed lists the options that differ from the defaults, as name and value.
	Changed() [][2]string
	// Check reports options that exclude each other.
	Check() error
	// Facts are what generic code has to know of them.
	Facts() Facts
}

// Option describes one option.
type Option struct {
	Name   string // in files and flags
	Was    string // its name in earlier versions, which is still read; "" if it had no other
	Values string // what may be given
	Doc    string
	// Short are values that make operations shorter: minimising tries them.
	Short []string
}

// Facts are the settings that generic code has to know, for any lock.
type Facts struct {
	// Retries, AdminRetries and Polls are how often acquire, an administrative operation, and wait try again before they
	// give up.
	Retries, AdminRetries, Polls int
	// SharedSession says that all clients use one session.
	SharedSession bool
	// Random says that an option leaves something to chance, so that a client may have to choose.
	Random bool
}

// ErrUnknownOption is, somewhere in it, the error of an option's name that none has.
var ErrUnknownOption = errors.New("not known")

// SetOptions are options with some of them set otherwise, given as name and value, one after the other.
func SetOptions(o Options, pairs [][2]string) (Options, error) {
	for _, p := range pairs {
		var err error
		if o, err = o.With(p[0], p[1]); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Renamed are options by name and value, each with the name that it has now.
func Renamed(o Options, pairs [][2]string) [][2]string {
	out := slices.Clone(pairs)
	for i, p := range out {
		for _, known := range o.Table() {
			if p[0] != "" && p[0] == known.Was {
				out[i][0] = known.Name
			}
		}
	}
	return out
}

// ReadOptions reads options from JSON: an object of names and strings. A missing name keeps its value in def.
func ReadOptions(def Options, data []byte) (Options, error) {
	var changed map[string]string
	if err := json.Unmarshal(data, &changed); err != nil {
		return nil, fmt.Errorf("options: expected an object of names and strings: %w", err)
	}
	o := def
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		var err error
		if o, err = o.With(name, changed[name]); err != nil {
			return nil, err
		}
	}
	return o, nil
}
