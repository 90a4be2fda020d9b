package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Options are the settings of a lock on one kind of server. A value is immutable; two values are equal (==) if all
// their options are. A backend makes Options with a [Table].
type Options interface {
	// Server is the name of the backend that the options belong to.
	Server() string
	// Defaults are the safe and cheap settings of the same backend.
	Defaults() Options
	// Table describes every option, in a fixed order.
	Table() []Option
	// Value is the value of an option, "" if there is none with that name.
	Value(name string) string
	// With returns the options with one of them changed. The error names the option, and is [ErrUnknownOption] if
	// there is none with that name.
	With(name, value string) (Options, error)
	// Changed lists the options that differ from the defaults, as name and value.
	Changed() [][2]string
	// Check reports options that exclude each other.
	Check() error
	// Facts are the settings that generic code needs.
	Facts() Facts
}

// Option describes one option.
type Option struct {
	Name   string // in files and flags
	Was    string // its name in earlier versions, which is still accepted; "" if there was none
	Values string // the permitted values
	Doc    string
	// Short are values that make operations shorter; minimising tries them.
	Short []string
}

// Facts are the settings of any lock that generic code needs.
type Facts struct {
	// Retries, AdminRetries and Polls are the numbers of further attempts that acquire, an administrative operation,
	// and wait make before they give up.
	Retries, AdminRetries, Polls int
	// SharedSession says that all clients use one session.
	SharedSession bool
	// Random says that an option leaves something to chance, so that a client may have random choices.
	Random bool
}

// ErrUnknownOption is wrapped by the error for an unknown option's name.
var ErrUnknownOption = errors.New("not known")

// SetOptions sets options in order, given as pairs of name and value.
func SetOptions(o Options, pairs [][2]string) (Options, error) {
	for _, p := range pairs {
		var err error
		if o, err = o.With(p[0], p[1]); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Renamed replaces earlier names of options by the current ones, in pairs of name and value.
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

// ReadOptions reads options from a JSON object of names and strings. A missing name keeps its value in def.
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
