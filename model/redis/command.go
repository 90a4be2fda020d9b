package redis

import (
	"fmt"
	"strings"
)

// ID names one attempt of one client at a lock: the number of the client, and of its attempt, each from 1. 0 is none.
type ID uint16

// NewID is the name of a client's attempt. Attempts are counted modulo 255, so that a message can be told from one of
// any of the last 254.
func NewID(client, attempt uint8) ID { return ID(client)<<8 | ID(attempt) }

// Client is whose attempt it is.
func (id ID) Client() uint8 { return uint8(id >> 8) }

// String is the name as it stands in keys and values.
func (id ID) String() string { return fmt.Sprintf("%d.%d", id>>8, id&0xff) }

// Claim is the part of a lock's entry about one client that wants or has the lock.
type Claim struct {
	ID       ID
	Priority uint8
}

// Value is a lock's entry: a single claim, or with claims that are kept several, the newest first, whose priorities fall.
// A value is never changed in place.
type Value []Claim

// String is the value as it stands in Redis.
func (v Value) String() string {
	parts := make([]string, len(v))
	for i, c := range v {
		parts[i] = fmt.Sprintf("%s:%d", c.ID, c.Priority)
	}
	return strings.Join(parts, " ")
}

// ParseValue reads what String wrote.
func ParseValue(s string) (v Value, err error) {
	for part := range strings.FieldsSeq(s) {
		var client, attempt, priority uint8
		if n, err := fmt.Sscanf(part, "%d.%d:%d", &client, &attempt, &priority); n != 3 || err != nil {
			return nil, fmt.Errorf("entry %q: expected client.attempt:priority in %q", s, part)
		}
		v = append(v, Claim{NewID(client, attempt), priority})
	}
	return v, nil
}

// Has reports whether the claim of an ID is among them.
func (v Value) Has(id ID) bool {
	for _, c := range v {
		if c.ID == id {
			return true
		}
	}
	return false
}

// Key is a key: of a lock, by its number, and of the lease of one claim on it where ID is not 0.
type Key struct {
	Lock uint8
	ID   ID
}

// Name is the key on the server, of the lock of that name. The braces have Redis Cluster keep a lock's keys together.
func (k Key) Name(lock string) string {
	if k.ID == 0 {
		return "{" + lock + "}"
	}
	return "{" + lock + "}." + k.ID.String()
}

// Method is a command, or a script.
type Method uint8

// The commands that the locks and the comparison with a real server use, and the scripts.
const (
	NoMethod Method = iota
	Get             // GET
	SetNX           // SET NX, with PX where Lease is not 0
	Set             // SET, with PX where Lease is not 0
	PExpire         // PEXPIRE
	PTTL            // PTTL
	Del             // DEL
	Exists          // EXISTS
	Steal           // the text's acquire: takes the entry if there is none, or one of a lower priority
	Release         // deletes the entry if it is one's own
	Extend          // gives it a new lease if it is one's own
	Claiming        // the repaired acquire: puts one's claim on top of those of lower priorities, which stay
	Unclaim         // takes one's claim out, wherever it is among them
	Prolong         // gives it a new lease if it is on top
	Look            // the claims whose leases are not over
	methods
)

// Command is a command to one server. Fields that a method does not use are zero.
type Command struct {
	Method   Method
	Key      Key
	ID       ID
	Priority uint8
	Lease    int64 // milliseconds
	// Also are the other claims that Unclaim removes: those of victims that have acknowledged.
	Also []ID
	// Equal has Steal take the entry of an equal priority, too. Keep has it live at least as long as the one that it
	// replaces.
	Equal, Keep bool
}

// Class is what kind of a reply it is.
type Class uint8

// The replies.
const (
	None    Class = iota // nothing came back
	OK                   // it was done; of Steal and Claiming, the entry is one's own now
	No                   // it was not: the key is there, or is not, or is not one's own, or of too high a priority
	Nil                  // there is no such key
	Valued               // the value of a key
	Timed                // the key will expire
	Ageless              // it will not
)

// Reply is a server's reply. Value is the key's; for Steal and Claiming, it is the conflicting claims.
type Reply struct {
	Class Class
	Value Value
}
