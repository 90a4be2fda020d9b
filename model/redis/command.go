package redis

import (
	"fmt"
	"strings"
)

// ID names one attempt of one client at a lock: the numbers of the client and of the attempt, each from 1. 0 is none.
type ID uint16

// NewID is the name of a client's attempt. Attempts are counted modulo 255, so that a message can be told apart from
// those of the last 254 attempts.
func NewID(client, attempt uint8) ID { return ID(client)<<8 | ID(attempt) }

// Client is the client whose attempt it is.
func (id ID) Client() uint8 { return uint8(id >> 8) }

// String is the name as written in keys and values.
func (id ID) String() string { return fmt.Sprintf("%d.%d", id>>8, id&0xff) }

// Claim is the part of a lock's entry for one client that wants or holds the lock.
type Claim struct {
	ID       ID
	Priority uint8
}

// Value is a lock's entry. It is a single claim, or, if claims are kept, several: the newest first, in order of
// falling priority. A value is never changed in place.
type Value []Claim

// String is the value as stored in Redis.
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

// Has reports whether an ID has a claim in the value.
func (v Value) Has(id ID) bool {
	for _, c := range v {
		if c.ID == id {
			return true
		}
	}
	return false
}

// Key is the key of a lock, by its number; if ID is not 0, it is the key of the lease of one claim.
type Key struct {
	Lock uint8
	ID   ID
}

// Name is the key on the server, for the lock with that name. The braces make Redis Cluster keep a lock's keys
// together.
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
	SetNX           // SET NX, with PX unless Lease is 0
	Set             // SET, with PX unless Lease is 0
	PExpire         // PEXPIRE
	PTTL            // PTTL
	Del             // DEL
	Exists          // EXISTS
	Steal           // the acquire of the text: takes the entry if there is none, or one of lower priority
	Release         // deletes the entry if it is the client's own
	Extend          // gives the entry a new lease if it is the client's own
	Claiming        // the repaired acquire: adds a claim on top of those of lower priorities, which stay
	Unclaim         // removes the client's claim, wherever it is
	Prolong         // gives the claim a new lease if it is on top
	Look            // reads the claims with live leases
	methods
)

// Command is a command to one server. Fields that a method does not use are zero.
type Command struct {
	Method   Method
	Key      Key
	ID       ID
	Priority uint8
	Lease    int64 // milliseconds
	// Also are further claims that Unclaim removes: those of victims that have acknowledged.
	Also []ID
	// Equal lets Steal also take the entry of an equal priority. Keep makes the new entry live at least as long as
	// the old one.
	Equal, Keep bool
}

// Class is the kind of a reply.
type Class uint8

// The replies.
const (
	None    Class = iota // no reply arrived
	OK                   // done; after Steal and Claiming the entry is the client's own
	No                   // not done: the key exists, is missing, is another client's, or has too high a priority
	Nil                  // the key does not exist
	Valued               // the value of a key
	Timed                // the key will expire
	Ageless              // the key will not expire
)

// Reply is a server's reply. Value is the value of the key; for Steal and Claiming it has the conflicting claims.
type Reply struct {
	Class Class
	Value Value
}
