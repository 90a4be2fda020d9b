package lock

import (
	"fmt"
	"strings"
)

// MaxClients and MaxLocks bound one execution, so that a monitor is a value of fixed size.
const (
	MaxClients = 8
	MaxLocks   = 2
)

// MaxSlots is the largest slot number that a client can be given. A byte counts slots, and add may exceed the number
// given to create.
const MaxSlots = 250

// CheckName reports what is wrong with a lock's name: a queue's name has at most 255 bytes, and those
// that begin with "amq." are the broker's own.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("lock name is empty: expected at least one character")
	case len(name) > 240:
		return fmt.Errorf("lock name of %d bytes: expected at most 240, since a queue's name has at most 255", len(name))
	case strings.HasPrefix(name, "amq."):
		return fmt.Errorf("lock name %q: names that begin with \"amq.\" are the broker's own", name)
	}
	return nil
}
