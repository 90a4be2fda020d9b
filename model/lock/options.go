package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Options are the settings of a lock of one backend. A value is immutable, and two values with the same settings are
// equal (==). A backend makes Options with a [Table].
type Options interface {
	// Server is the name of the backend that the options belong to.
	Server() string
	// Defaults are the default options of the same backend, which are safe and cheap.
	Defaults() Options
	// Table describes every option, in a fixed order.
	Table() []Option
	// Value is the value of the option with that name; "" if there is no such option.
	Value(name string) string
	// With returns a copy of the options in which the option with that name has the given value. The error wraps
	// [ErrUnknownOption] if there is no such option.
	With(name, value string) (Options, error)
	// Changed lists the options that differ from the defaults, as pairs of name and value.
	Changed() [][2]string
	// Check returns an error if options exclude each other.
	Check() error
	// Facts are the settings that all backends have in common.
	Facts() Facts
}

// Option describes one option.
type Option struct {
	Name   string // its name in files and flags
	Was    string // an earlier name, which is still accepted; "" if there is none
	Values string // the allowed values, such as "true|false" or "0-100"
	Doc    string
	// Short are values with which operations have fewer steps. Minimising a scenario tries them.
	Short []string
}

// Facts are settings that all backends have in common, for code that knows no backend.
type Facts struct {
	// Retries is the number of further attempts of an acquire before it gives up, AdminRetries that of an
	// administrative operation, and Polls that of a wait.
	Retries, AdminRetries, Polls int
	// SharedSession says that all clients share one session with the server.
	SharedSession bool
	// Random says that some options make clients choose at random.
	Random bool
}

// ErrUnknownOption is the error, possibly wrapped, if there is no option with a given name.
var ErrUnknownOption = errors.New("not known")

// SetOptions returns o with some options changed. pairs are names and values, applied in order.
func SetOptions(o Options, pairs [][2]string) (Options, error) {
	for _, p := range pairs {
		var err error
		if o, err = o.With(p[0], p[1]); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Renamed replaces earlier names of options by their present names. pairs are names and values.
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

// ReadOptions reads options from a JSON object of names and values. Options that it does not name are those of def.
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
