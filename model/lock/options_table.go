package lock

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Settings is a backend's own struct of options, with one field for each option.
type Settings interface {
	comparable
	// Check and Facts are those of the interface [Options].
	Check() error
	Facts() Facts
}

// Field describes one option of type T's settings. Get reads its value as text, and Set parses and sets it.
type Field[T any] struct {
	Option
	Get func(*T) string
	Set func(*T, string) error
}

// Table converts a backend's settings of type T to [Options] and back. It has a description of each option.
type Table[T Settings] struct {
	server   string
	defaults T
	safe     Options // defaults as Options, made once, since drawing a scenario needs them
	fields   []Field[T]
	options  []Option
}

// NewTable makes the table of the backend named server, with a field for each option. It panics if two options have the
// same name; earlier names count as well.
func NewTable[T Settings](server string, defaults T, fields ...Field[T]) *Table[T] {
	t := &Table[T]{server: server, defaults: defaults, fields: fields}
	t.safe = t.Options(defaults)
	for _, f := range fields {
		for _, name := range []string{f.Name, f.Was} {
			if name != "" && slices.ContainsFunc(t.options, func(o Option) bool { return o.Name == name || o.Was == name }) {
				panic(fmt.Sprintf("lock: backend %q has two options %s", server, name))
			}
		}
		t.options = append(t.options, f.Option)
	}
	return t
}

// Defaults are the default options, which are safe and cheap.
func (t *Table[T]) Defaults() Options { return t.safe }

// Options converts settings to Options.
func (t *Table[T]) Options(v T) Options { return settings[T]{t, v} }

// Of converts Options to settings. It panics if o belongs to another backend.
func (t *Table[T]) Of(o Options) T {
	s, ok := o.(settings[T])
	if !ok {
		if o == nil {
			panic(fmt.Sprintf("lock: no options: expected those of backend %q", t.server))
		}
		panic(fmt.Sprintf("lock: options of backend %q: expected those of %q", o.Server(), t.server))
	}
	return s.v
}

// Edit returns a copy of o in which change has changed the settings.
func (t *Table[T]) Edit(o Options, change func(*T)) Options {
	v := t.Of(o)
	change(&v)
	return t.Options(v)
}

// Fix makes a function for [Target.Fix] that changes settings by change.
func (t *Table[T]) Fix(change func(*T)) func(Options) Options {
	return func(o Options) Options { return t.Edit(o, change) }
}

// settings implement [Options]: a backend's settings with their table.
type settings[T Settings] struct {
	table *Table[T]
	v     T
}

func (s settings[T]) Server() string    { return s.table.server }
func (s settings[T]) Defaults() Options { return s.table.Defaults() }
func (s settings[T]) Table() []Option   { return s.table.options }
func (s settings[T]) Check() error      { return s.v.Check() }
func (s settings[T]) Facts() Facts      { return s.v.Facts() }

// field is the description of the option with that name, or with that earlier name; nil if there is none.
func (t *Table[T]) field(name string) *Field[T] {
	i := slices.IndexFunc(t.fields, func(f Field[T]) bool { return f.Name == name || f.Was != "" && f.Was == name })
	if i < 0 {
		return nil
	}
	return &t.fields[i]
}

func (s settings[T]) Value(name string) string {
	f := s.table.field(name)
	if f == nil {
		return ""
	}
	return f.Get(&s.v)
}

func (s settings[T]) With(name, value string) (Options, error) {
	f := s.table.field(name)
	if f == nil {
		return nil, fmt.Errorf("option %q is %w", name, ErrUnknownOption)
	}
	if err := f.Set(&s.v, value); err != nil {
		return nil, fmt.Errorf("option %s: %w", name, err)
	}
	return s, nil
}

func (s settings[T]) Changed() (out [][2]string) {
	if s.v == s.table.defaults {
		return nil
	}
	for _, f := range s.table.fields {
		if v := f.Get(&s.v); v != f.Get(&s.table.defaults) {
			out = append(out, [2]string{f.Name, v})
		}
	}
	return out
}

// String lists the options that differ from the defaults, as name=value, separated by spaces.
func (s settings[T]) String() string {
	var out []string
	for _, c := range s.Changed() {
		out = append(out, c[0]+"="+c[1])
	}
	return strings.Join(out, " ")
}

// MarshalJSON writes the options that differ from the defaults. [ReadOptions] with the defaults reads them.
func (s settings[T]) MarshalJSON() ([]byte, error) {
	changed := make(map[string]string)
	for _, c := range s.Changed() {
		changed[c[0]] = c[1]
	}
	return json.Marshal(changed)
}

// Word describes an option of type string, whose value is one of values.
func Word[T any](name, doc string, field func(*T) *string, values ...string) Field[T] {
	return Field[T]{Option: Option{Name: name, Values: strings.Join(values, "|"), Doc: doc},
		Get: func(o *T) string { return *field(o) },
		Set: func(o *T, v string) error {
			if !slices.Contains(values, v) {
				return fmt.Errorf("%q: expected one of %s", v, strings.Join(values, ", "))
			}
			*field(o) = v
			return nil
		}}
}

// Number describes an option that is a number from 0 to most.
func Number[T any](name, doc string, most int, field func(*T) *int) Field[T] {
	return Field[T]{Option: Option{Name: name, Values: fmt.Sprintf("0-%d", most), Doc: doc, Short: []string{"0", "1"}},
		Get: func(o *T) string { return strconv.Itoa(*field(o)) },
		Set: func(o *T, v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 || n > most {
				return fmt.Errorf("%q: expected a number from 0 to %d", v, most)
			}
			*field(o) = n
			return nil
		}}
}

// Toggle describes an option that is true or false.
func Toggle[T any](name, doc string, field func(*T) *bool) Field[T] {
	return Field[T]{Option: Option{Name: name, Values: "true|false", Doc: doc},
		Get: func(o *T) string { return strconv.FormatBool(*field(o)) },
		Set: func(o *T, v string) error {
			if v != "true" && v != "false" {
				return fmt.Errorf("%q: expected true or false", v)
			}
			*field(o) = v == "true"
			return nil
		}}
}
