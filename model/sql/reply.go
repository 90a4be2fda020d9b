package sql

import "math/bits"

// Code is the outcome of a command.
type Code uint8

// The codes, with MariaDB's number and PostgreSQL's SQLSTATE.
const (
	OK          Code = iota
	Blocked          // the command waits for a lock, and is answered later
	Duplicate        // 1062, 23505: the row exists
	LockTimeout      // 1205, 55P03: NOWAIT, or it has waited for too long
	Deadlock         // 1213, 40P01: its transaction was chosen to end
	Conflict         // 40001: another transaction has changed what this one has read
	InFailed         // 25P02: an earlier command has failed; only the end of the transaction is accepted
	Gone             // the connection is over
	OutOfRange       // 1264, 22003: the number does not fit in the column
	Codes
)

var codeWords = [Codes]string{"ok", "waits", "duplicate", "lock timeout", "deadlock", "serialization failure", "transaction aborted", "connection lost", "out of range"}

// String is the code in words.
func (c Code) String() string { return codeWords[c] }

// Numbers are the MariaDB number and PostgreSQL SQLSTATE of an error.
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
	// RolledBack says, for a Commit, that the transaction had already been rolled back.
	RolledBack bool
	// Count is the number of rows read or changed.
	Count uint8
	// Nums are the nums that Select read: bit n is num n.
	Nums uint32
}

// Sent is a command and its reply.
type Sent struct {
	Command Command
	Reply   Reply
}

// First is the lowest num that was read.
func (r Reply) First() uint8 { return uint8(bits.TrailingZeros32(r.Nums)) }
