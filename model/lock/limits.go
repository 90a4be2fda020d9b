package lock

import (
	"fmt"
	"strings"
)

// MaxClients and MaxLocks are the largest numbers of clients and locks in one execution. A monitor needs them to be a
// value of fixed size.
const (
	MaxClients = 8
	MaxLocks   = 2
)

// MaxSlots is the largest slot number that a client can be granted. Slots are counted in a byte, and adds may make more
// of them than the create did.
const MaxSlots = 250

// CheckName returns an error if a lock cannot have that name: it must not be empty, have more than 240 bytes, or begin
// with "amq.", which is reserved to the broker.
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
