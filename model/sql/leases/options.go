package leases

import (
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/sql"
)

// Values of the options of type string.
const (
	Master = "master"
	Slots  = "slots"

	afterLock  = "after-lock"
	beforeLock = "before-lock"
	Twice      = "twice"

	wait       = "wait"
	noWait     = "nowait"
	skipLocked = "skip-locked"
	unlocked   = "none"

	inSteps    = "select"
	inOne      = "subselect"
	retry      = "retry"
	proceed    = "proceed"
	fromSend   = "sending"
	fromAnswer = "reply"
	Never      = "never"

	Given   = "given"
	each    = "each"
	highest = "highest"
	counted = "counted"
	within  = "within"

	wide   = "wide"
	narrow = "narrow"

	clearRow  = "clear"
	deleteRow = "delete"
	clearAny  = "clear-any"

	kept  = "kept"
	owned = "owned"
)

// Options are the choices that the texts about these locks leave open.
type Options struct {
	Form      string
	Isolation string
	Counted   string // when leases are counted: after or before the master row is locked, or both
	Clock     string
	Locking   string // how an acquire locks the row that it looks for: wait, nowait, skip-locked or none
	Claiming  string // how a slot's row is claimed: after a select, or by a subselect
	Rows      string // whether an acquire adds missing rows of slots, and which: given adds none
	Numbers   string // size of the numbers of slots' rows: wide or narrow
	Released  string // what a release does with a slot's row: clears or deletes it
	Refreshes string // which leases a refresh extends: live ones, or any that the client has
	OnTimeout string // after a lock timeout (1205, 55P03): retry or proceed
	OnFailure string // after a deadlock or conflict (1213, 40P01, 40001): retry or proceed
	Deadline  string // from when a client counts its lease: sending, reply or never
	Lease     int    // duration of a lease in milliseconds
	LockWait  int    // maximum wait for a row lock in milliseconds; 0 is no limit
	Retries   int
}

// ClockNames are the values of the option Clock, indexed by sql.Clock.
var ClockNames = [...]string{sql.StatementTime: "statement", sql.TransactionTime: "transaction", sql.SystemTime: "system"}

// options makes the table of the options for one dialect.
func options(d sql.Dialect) *lock.Table[Options] {
	defaults := Options{
		Form: Master, Isolation: sql.ReadCommitted.String(), Counted: afterLock, Clock: ClockNames[sql.SystemTime], Locking: wait,
		Claiming: inSteps, Rows: Given, Numbers: wide, Released: clearRow, Refreshes: kept, OnTimeout: retry, OnFailure: retry, Deadline: fromSend, Lease: 40, LockWait: 0, Retries: 2,
	}
	return lock.NewTable(d.String(), defaults,
		lock.Word("form", "leases under a master row, or a row for each slot", func(o *Options) *string { return &o.Form }, Master, Slots),
		isolation(d),
		lock.Word("counted", "master form: leases are counted after the master row is locked, before that, or before and again", func(o *Options) *string { return &o.Counted }, afterLock, beforeLock, Twice),
		lock.Word("clock", "the server's time of leases: when the statement began, the transaction began (PostgreSQL), or it is asked for", func(o *Options) *string { return &o.Clock }, ClockNames[:]...),
		lock.Word("locking", "how the row is locked that acquire looks for; none does not lock it", func(o *Options) *string { return &o.Locking }, wait, noWait, skipLocked, unlocked),
		lock.Word("claiming", "slot form: a row is found, then claimed, or claimed by a subselect (PostgreSQL)", func(o *Options) *string { return &o.Claiming }, inSteps, inOne),
		lock.Word("rows", "slot form: rows are there from the beginning, or acquire adds each that is missing; those behind the highest; all if there are too few; or, having found none that is free, each, in its transaction", func(o *Options) *string { return &o.Rows }, Given, each, highest, counted, within),
		lock.Word("numbers", "slot form: a row's number is an INT, or of the smallest type, of whose numbers one is left", func(o *Options) *string { return &o.Numbers }, wide, narrow),
		lock.Word("released", "slot form: a release clears the row, or deletes it; or clears it whoever has it", func(o *Options) *string { return &o.Released }, clearRow, deleteRow, clearAny),
		lock.Word("refreshes", "a refresh extends a lease that is not over, or whichever is its own still", func(o *Options) *string { return &o.Refreshes }, kept, owned),
		lock.Word("on-timeout", "after 1205 or 55P03: roll back and try again, or go on as if nothing was", func(o *Options) *string { return &o.OnTimeout }, retry, proceed),
		lock.Word("on-failure", "after 1213, 40P01 or 40001: begin again, or go on as if nothing was", func(o *Options) *string { return &o.OnFailure }, retry, proceed),
		lock.Word("deadline", "a client believes for as long as the lease lasts, from when it sends the command that makes it, or from the reply; or until it is told otherwise", func(o *Options) *string { return &o.Deadline }, fromSend, fromAnswer, Never),
		lock.Number("lease", "how long a lease is, in milliseconds", 10000, func(o *Options) *int { return &o.Lease }),
		lock.Number("lock-wait", "how long a statement waits for a lock, in milliseconds; 0 is for ever", 10000, func(o *Options) *int { return &o.LockWait }),
		lock.Number("retries", "how often a transaction that failed is tried again", 10, func(o *Options) *int { return &o.Retries }),
	)
}

// isolation describes the option Isolation. PostgreSQL's SERIALIZABLE is refused: it aborts transactions by a coarse
// approximation of what they have read, and the model does not simulate this.
func isolation(d sql.Dialect) lock.Field[Options] {
	levels := []string{sql.ReadCommitted.String(), sql.RepeatableRead.String()}
	if d == sql.MariaDB {
		levels = append(levels, sql.Serializable.String())
	}
	f := lock.Word("isolation", "isolation level of all transactions", func(o *Options) *string { return &o.Isolation }, levels...)
	set := f.Set
	f.Set = func(o *Options, v string) error {
		if d == sql.Postgres && v == sql.Serializable.String() {
			return fmt.Errorf("%q is not modelled: which transactions PostgreSQL refuses then (40001) was not compared; expected one of %s", v, f.Values)
		}
		return set(o, v)
	}
	return f
}

// Tables have the name, description and values of each option, by dialect.
var Tables = [...]*lock.Table[Options]{sql.MariaDB: options(sql.MariaDB), sql.Postgres: options(sql.Postgres)}

// Check implements [lock.Settings].
func (o Options) Check() error {
	if o.Lease < 1 {
		return errors.New("lease 0: expected at least a millisecond")
	}
	return nil
}

// Facts implements [lock.Settings].
func (o Options) Facts() lock.Facts { return lock.Facts{Retries: o.Retries} }

// Level is the isolation level of the transactions.
func (o *Options) Level() sql.Level {
	for _, l := range sql.Levels {
		if l.String() == o.Isolation {
			return l
		}
	}
	return sql.ReadCommitted
}

// ServerTime is the server's clock by which leases end.
func (o *Options) ServerTime() sql.Clock {
	for c, name := range ClockNames {
		if name == o.Clock {
			return sql.Clock(c)
		}
	}
	return sql.StatementTime
}

// Table is the table that has the leases.
func (o *Options) Table() sql.Table {
	switch {
	case o.Form == Master:
		return sql.Leases
	case o.Numbers == narrow:
		return sql.Narrow
	}
	return sql.Slots
}

func (o *Options) read() sql.Read {
	switch o.Locking {
	case noWait:
		return sql.NoWait
	case skipLocked:
		return sql.SkipLocked
	case unlocked:
		return sql.Plain
	}
	return sql.ForUpdate
}
