package sql

// Dialect is a kind of database server, which has its own SQL and its own row locks.
type Dialect uint8

// The kinds of database servers.
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

// The kinds of commands.
const (
	NoVerb   Verb = iota
	Open          // opens a connection; its transactions have the command's Level
	Begin         // begins a transaction; without a transaction, each command is committed at once
	Commit        // commits; if the server has already rolled back, the reply says so ([Reply.RolledBack])
	Rollback      //
	Select        // reads rows, and locks them as Read says
	Count         // counts rows, without locking them
	Insert        // inserts the row Num, with Token and the end of its lease
	Update        // sets token and until of rows, as Set says
	Claim         // updates the first row that a Select would find, by a subselect; PostgreSQL only
	Delete        // deletes rows
	Verbs
)

var verbWords = [Verbs]string{"", "open", "begin", "commit", "rollback", "select", "count", "insert", "update", "claim", "delete"}

// String is the verb in one word.
func (v Verb) String() string { return verbWords[v] }

// Table is one of the tables of the model.
type Table uint8

// The tables. The package's doc.go describes them.
const (
	Masters Table = iota
	Leases
	Slots
	// Narrow is the table Slots with the smallest integer type for num: TINYINT, or PostgreSQL's SMALLINT. The model
	// assumes that almost all numbers are used up: Num 1 is the largest number of the type, and Num 2 does not fit.
	Narrow
	Tables
)

// NarrowNums is the number of values of Num that fit in the table [Narrow].
const NarrowNums = 1

// Shift is what is added to Num to get num on the server.
func (t Table) Shift(d Dialect) int {
	if t != Narrow {
		return 0
	}
	return [...]int{MariaDB: 127, Postgres: 32767}[d] - NarrowNums
}

var tableWords = [Tables]string{"masters", "leases", "slots", "narrow"}

// String is the table's name.
func (t Table) String() string { return tableWords[t] }

// Rows selects rows of a lock by num, a column of the primary key.
type Rows uint8

// The selections. All are all rows of the lock.
const (
	All   Rows = iota
	One        // num = Num
	Below      // num < Num
)

// If is a condition that the selected rows must meet.
type If uint8

// The conditions.
const (
	Any     If = iota
	Owned      // token = Token: the client has the lease, which may be over
	Expired    // until < now
	Free       // token is null or until < now: no live lease
	Live       // until >= now: a live lease
	Kept       // token = Token and until >= now: the client has a live lease
)

// Read is the way in which rows are read.
type Read uint8

// The ways to read rows. Plain locks no rows, except in MariaDB at the level Serializable.
const (
	Plain Read = iota
	ForUpdate
	NoWait
	SkipLocked
)

// Set says which columns an update sets.
type Set uint8

// The updates: the columns that they set.
const (
	Grant Set = iota // sets token and until
	Renew            // sets until
	Clear            // sets both to null
)

// Clock is the clock that a command uses for its conditions and for the end of a lease.
type Clock uint8

// The clocks. MariaDB has no TransactionTime.
const (
	StatementTime   Clock = iota // start of the statement: NOW(), statement_timestamp()
	TransactionTime              // start of the transaction: PostgreSQL's now()
	SystemTime                   // time of the evaluation: SYSDATE(), clock_timestamp()
	GivenTime                    // the time that the client sends ([Command.Time])
)

// Command is a command that a client sends to a database. Fields that its Verb does not need are zero.
type Command struct {
	Verb  Verb
	Level Level // isolation level that Open sets
	Table Table
	Rows  Rows
	If    If
	Read  Read
	Set   Set
	Clock Clock
	First bool // only the first row by num
	// Ignore makes an insert do nothing if the row exists, instead of failing.
	Ignore bool
	Lock   uint8
	Num    uint8
	Token  uint8
	// Lease is the duration of a granted or renewed lease, and Time the time that GivenTime means. Both are in units of
	// the database's clock.
	Lease, Time int64
}

// Writes reports whether the command may change rows.
func (c *Command) Writes() bool {
	return c.Verb == Insert || c.Verb == Update || c.Verb == Claim || c.Verb == Delete
}

// OutOfRange reports whether the command inserts a number that does not fit in its column.
func (c *Command) OutOfRange() bool { return c.Table == Narrow && c.Num > NarrowNums }
