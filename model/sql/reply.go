package sql

import "math/bits"

// Code says whether a command succeeded, and otherwise why not.
type Code uint8

// The codes. Errors have MariaDB's number and PostgreSQL's SQLSTATE.
const (
	OK          Code = iota
	Blocked          // the command waits for a lock, and the reply comes later
	Duplicate        // 1062, 23505: the row exists
	LockTimeout      // 1205, 55P03: a lock was not free (NOWAIT), or not in time
	Deadlock         // 1213, 40P01: the transaction was rolled back because of a deadlock
	Conflict         // 40001: another transaction has changed what this one has read
	InFailed         // 25P02: an earlier command of the transaction failed, so that only its end is accepted
	Gone             // the connection is closed
	OutOfRange       // 1264, 22003: a number does not fit in its column
	Codes
)

var codeWords = [Codes]string{"ok", "waits", "duplicate", "lock timeout", "deadlock", "serialization failure", "transaction aborted", "connection lost", "out of range"}

// String is the code in words.
func (c Code) String() string { return codeWords[c] }

// Numbers are MariaDB's error number and PostgreSQL's SQLSTATE of the code.
func (c Code) Numbers() (mariadb uint16, postgres string) {
	switch c {
	case Duplicate:
		return 1062, "23505"
	case LockTimeout:
		return 1205, "55P03"
	case Deadlock:
		return 1213, "40P01"
	case Conflict:
		return 1020, "40001"
	case OutOfRange:
		return 1264, "22003"
	case InFailed:
		return 0, "25P02"
	}
	return 0, ""
}

// Reply is the reply to a command.
type Reply struct {
	Code Code
	// RolledBack says that the transaction of a Commit had already been rolled back.
	RolledBack bool
	// Count is the number of rows read or changed.
	Count uint8
	// Nums are the values of num that a Select has read: bit n is num n.
	Nums uint32
}

// Sent is a command and its reply as the payload of a trace step.
type Sent struct {
	Command Command
	Reply   Reply
}

// First is the lowest value of num that a Select has read.
func (r Reply) First() uint8 { return uint8(bits.TrailingZeros32(r.Nums)) }
