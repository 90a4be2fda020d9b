package sql

// Dialect is a kind of server, with its own SQL and its own locks.
type Dialect uint8

// The dialects.
const (
	MariaDB Dialect = iota
	Postgres
)

// String is the dialect's name in options and addresses.
func (d Dialect) String() string { return [...]string{"mariadb", "postgres"}[d] }

// Level is a transaction's isolation level.
type Level uint8

// The isolation levels.
const (
	ReadCommitted Level = iota
	RepeatableRead
	Serializable
)

var levelWords = [...]string{"read-committed", "repeatable-read", "serializable"}

// String is the level's name in options.
func (l Level) String() string { return levelWords[l] }

// Levels are all isolation levels.
var Levels = [...]Level{ReadCommitted, RepeatableRead, Serializable}

// Verb is the kind of a command.
type Verb uint8

// The verbs.
const (
	NoVerb   Verb = iota
	Open          // opens a connection whose transactions have the command's level
	Begin         // begins a transaction; without one, each command is committed at once
	Commit        // if the server has already rolled back, the reply says so ([Reply.RolledBack])
	Rollback      //
	Select        // reads rows, and locks them as Read says
	Count         // counts rows, without locking any
	Insert        // inserts the row Num
	Update        // sets token and until of rows as Set says
	Claim         // updates the row that a subselect finds: the first that Select would find. PostgreSQL only
	Delete        // deletes rows
	Verbs
)

var verbWords = [Verbs]string{"", "open", "begin", "commit", "rollback", "select", "count", "insert", "update", "claim", "delete"}

// String is the verb in one word.
func (v Verb) String() string { return verbWords[v] }

// Table is one of the tables.
type Table uint8

// The tables.
const (
	Masters Table = iota
	Leases
	Slots
	// Narrow is Slots with a num of the smallest integer type, TINYINT or PostgreSQL's SMALLINT. Almost all numbers
	// are considered used up: Num 1 is the last of the type, and there is none for Num 2.
	Narrow
	Tables
)

// NarrowNums is the number of nums that [Narrow] has left.
const NarrowNums = 1

// Shift is the difference between num on the server and Num.
func (t Table) Shift(d Dialect) int {
	if t != Narrow {
		return 0
	}
	return [...]int{MariaDB: 127, Postgres: 32767}[d] - NarrowNums
}

var tableWords = [Tables]string{"masters", "leases", "slots", "narrow"}

// String is the table's name.
func (t Table) String() string { return tableWords[t] }

// Rows selects a lock's rows by the primary key.
type Rows uint8

// The rows.
const (
	All   Rows = iota
	One        // num = Num
	Below      // num < Num
)

// If is a further condition of a command.
type If uint8

// The conditions.
const (
	Any     If = iota
	Owned      // token = Token
	Expired    // until < now
	Free       // token is null or until < now
	Live       // until >= now
	Kept       // token = Token and until >= now: a live lease of the client
)

// Read is the way in which rows are read.
type Read uint8

// The ways to read. A plain read locks nothing, unless MariaDB's level is Serializable.
const (
	Plain Read = iota
	ForUpdate
	NoWait
	SkipLocked
)

// Set says which columns an update sets.
type Set uint8

// The updates.
const (
	Grant Set = iota // token and until
	Renew            // until
	Clear            // both to null
)

// Clock is the source of the time in a command's conditions and in the leases that it grants.
type Clock uint8

// The clocks. MariaDB has no time of the transaction.
const (
	StatementTime   Clock = iota // when the statement began: NOW(), statement_timestamp()
	TransactionTime              // when the transaction began: PostgreSQL's now()
	SystemTime                   // when it is evaluated: SYSDATE(), clock_timestamp()
	GivenTime                    // the client's ([Command.Time])
)

// Command is what a client sends.
type Command struct {
	Verb  Verb
	Level Level // of Open
	Table Table
	Rows  Rows
	If    If
	Read  Read
	Set   Set
	Clock Clock
	First bool // only the first row, ordered by num
	// Ignore makes an insert of an existing row do nothing.
	Ignore bool
	Lock   uint8
	Num    uint8
	Token  uint8
	// Lease is the duration of the granted or renewed lease; Time is the time for GivenTime. Both are in units of the
	// store's clock.
	Lease, Time int64
}

// Writes reports whether a command changes rows.
func (c *Command) Writes() bool {
	return c.Verb == Insert || c.Verb == Update || c.Verb == Claim || c.Verb == Delete
}

// OutOfRange reports whether an insert has a number that does not fit in its column.
func (c *Command) OutOfRange() bool { return c.Table == Narrow && c.Num > NarrowNums }
