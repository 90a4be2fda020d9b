package stream

import (
	"fmt"
	"strings"
)

// Names maps the names of items and values in a run to the names that traces show, which are the same in every run.
// An item's name loses the part that differs from run to run. A value that a client has made up is replaced by a
// number.
type Names struct {
	part   string
	values map[string]string
	keys   map[string]uint16
}

// NewNames returns the names for a run. part is the text that the names of the run's locks contain.
func NewNames(part string) *Names {
	return &Names{part: part, values: make(map[string]string), keys: make(map[string]uint16)}
}

// Item returns an item's name without the part that differs from run to run.
func (n *Names) Item(name string) string {
	if n.part == "" {
		return name
	}
	return strings.ReplaceAll(name, n.part, "")
}

// Own reports whether a text contains the part of names that differs from run to run.
func (n *Names) Own(text string) bool { return n.part != "" && strings.Contains(text, n.part) }

// Value replaces a value that differs from run to run by its number, in order of first use.
func (n *Names) Value(value string) string {
	alias, ok := n.values[value]
	if !ok {
		alias = fmt.Sprintf("value%d", len(n.values)+1)
		n.values[value] = alias
	}
	return alias
}

// Key returns the number of the named item in the run, from 1; 0 is for an empty name.
func (n *Names) Key(name string) uint16 {
	if name == "" {
		return 0
	}
	name = n.Item(name)
	if n.keys[name] == 0 {
		n.keys[name] = uint16(len(n.keys) + 1)
	}
	return n.keys[name]
}
