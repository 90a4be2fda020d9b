package redis

import (
	"fmt"
	"strings"
)

// ID names one attempt of one client to acquire the lock, by the numbers of the client and of the attempt, from 1. 0 is
// none.
type ID uint16

// NewID makes the ID of a client's attempt. Attempt numbers start again after 255, so that a client can tell late
// messages to its last 254 attempts apart.
func NewID(client, attempt uint8) ID { return ID(client)<<8 | ID(attempt) }

// Client is the number of the client that made the attempt.
func (id ID) Client() uint8 { return uint8(id >> 8) }

// String is the ID as stored in Redis, such as "2.7" for attempt 7 of client 2.
func (id ID) String() string { return fmt.Sprintf("%d.%d", id>>8, id&0xff) }

// Claim is the claim of one client that wants or holds the lock. A lock's entry consists of claims.
type Claim struct {
	ID       ID
	Priority uint8
}

// Value is the value of a lock's entry in Redis. It is a single claim or, with the option Entry claims, several: the
// newest first, which has the highest priority. A value is never changed in place.
type Value []Claim

// String is the value as text, as stored in Redis.
func (v Value) String() string {
	parts := make([]string, len(v))
	for i, c := range v {
		parts[i] = fmt.Sprintf("%s:%d", c.ID, c.Priority)
	}
	return strings.Join(parts, " ")
}

// ParseValue parses a value that String wrote.
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

// Has reports whether an ID has a claim in the value.
func (v Value) Has(id ID) bool {
	for _, c := range v {
		if c.ID == id {
			return true
		}
	}
	return false
}

// Key is the key of the entry of lock number Lock. If ID is not 0, it is the key of the lease of that attempt's claim.
type Key struct {
	Lock uint8
	ID   ID
}

// Name is the key's name in Redis, for a lock with the given name. Its braces make Redis Cluster keep all keys of a
// lock on one server.
func (k Key) Name(lock string) string {
	if k.ID == 0 {
		return "{" + lock + "}"
	}
	return "{" + lock + "}." + k.ID.String()
}

// Method is a Redis command, or a Lua script.
type Method uint8

// The methods. The first ones are Redis commands that locks and tests use, the others scripts.
const (
	NoMethod Method = iota
	Get             // GET
	SetNX           // SET NX, with PX if Lease is not 0
	Set             // SET, with PX if Lease is not 0
	PExpire         // PEXPIRE
	PTTL            // PTTL
	Del             // DEL
	Exists          // EXISTS
	Steal           // acquire of the protocol's text: takes the entry if it is missing or has a lower priority
	Release         // deletes the entry if the client has it
	Extend          // gives the entry a new lease if the client has it
	Claiming        // acquire of the repaired protocol: puts a claim on top of claims with lower priorities, which stay
	Unclaim         // removes the client's claim, wherever it is in the entry
	Prolong         // gives the client's claim a new lease if it is on top
	Look            // reads the claims whose leases have not ended
	methods
)

// Command is a command to one server. Fields that a method does not use are zero.
type Command struct {
	Method   Method
	Key      Key
	ID       ID
	Priority uint8
	Lease    int64 // duration of a new lease, in milliseconds
	// Also are further claims that Unclaim removes: those of victims that have acknowledged that the lock was stolen.
	Also []ID
	// Equal makes Steal take an entry of the same priority too. Keep makes the new entry live at least as long as the
	// old one.
	Equal, Keep bool
}

// Class is the kind of a reply.
type Class uint8

// The kinds of replies.
const (
	None    Class = iota // the client got no reply
	OK                   // done; for Steal and Claiming the client now has the entry
	No                   // not done: the key exists, is missing, is another client's, or has too high a priority
	Nil                  // the key does not exist
	Valued               // the value of a key
	Timed                // the key has an expiry time
	Ageless              // the key has no expiry time
)

// Reply is a server's reply to a command. Value is the key's value or, for Steal and Claiming, the claims in conflict.
type Reply struct {
	Class Class
	Value Value
}
