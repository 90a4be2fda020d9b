package leases

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/sql"
)

// offers are the operations. Verify is a refresh, as the text says.
var offers = []lock.Op{lock.Acquire, lock.Refresh, lock.Release}

// target is a lock of a form, with a change to the options. A scenario decides options that the target does not fix.
func target(d sql.Dialect, name, form, breaks, doc string, change func(*Options)) *lock.Target {
	t := &lock.Target{
		Name: d.String() + "-" + name, Kind: lock.Semaphore, Backend: d.String(), Breaks: breaks, Doc: doc, Offers: offers,
		Traits: lock.Leases | lock.Deadlines,
		Fix: Tables[d].Fix(func(o *Options) {
			o.Form = form
			change(o)
		}),
	}
	if form == Master {
		t.Traits |= lock.Permits
	}
	return t
}

func same(*Options) {}

// skipping makes a claim look for a slot among the unlocked rows.
func skipping(o *Options) { o.Locking = skipLocked }

// References are the locks that are proved.
func References(d sql.Dialect) []*lock.Target {
	all := []*lock.Target{
		target(d, "master", Master, "", "leases in rows, under a row of the lock's that whoever changes them locks first", same),
		target(d, "slots", Slots, "", "a row for each slot, found FOR UPDATE and claimed in one transaction", same),
	}
	return all
}

// Mutants are the references with one bug each. The labels are those of sim/FACTS.md: a fault in a version of a
// published library (H), or a real server's behaviour with the lock (M, G).
func Mutants(d sql.Dialect) []*lock.Target {
	with := func(name, form, breaks, doc string, change func(*Options)) *lock.Target {
		return target(d, name, form, breaks, doc, func(o *Options) {
			if d == sql.MariaDB {
				o.Clock = ClockNames[sql.StatementTime] // no session can set SYSDATE(), so that it cannot be replayed
			}
			change(o)
		})
	}
	all := append(inBoth(with), inRows(with)...)
	if d == sql.MariaDB {
		return append(all, onMariaDB(with)...)
	}
	return append(all, onPostgres(with)...)
}

// mutant makes a form of the lock with one bug.
type mutant func(name, form, breaks, doc string, change func(*Options)) *lock.Target

// inBoth are the bugs of transactions, clocks and refreshes, which both forms can have.
func inBoth(of mutant) []*lock.Target {
	return []*lock.Target{
		// FACTS H6, M4
		of("skip-locked", Slots, "honest-full", "a slot is looked for with SKIP LOCKED: one that somebody merely looks at counts as taken", skipping),
		of("unlocked-slot", Slots, "mutual-exclusion", "a slot is looked for without locking its row", func(o *Options) { o.Locking = unlocked }),
		// FACTS M1
		of("timeout-ignored", Slots, "effective-release", "the error of a lock that was not to be had in time is ignored, and the transaction goes on",
			func(o *Options) { o.OnTimeout, o.LockWait = proceed, 3 }),
		// FACTS M10, G4
		of("deadline-late", Slots, "mutual-exclusion", "a client counts its lease from the reply, and the server from the beginning of a statement that waited",
			func(o *Options) { o.Deadline = fromAnswer }),
		of("count-first", Master, "no-phantom-slot", "leases are counted before the master row is locked", func(o *Options) { o.Counted = beforeLock }),

		// The next two clients keep no clock: only the next answer tells them that a lease is over.
		// FACTS H7
		of("revived", Slots, "renewal-honest", "a refresh brings a lease back that was over, if nobody took its slot: its client learns only then whether it has it",
			func(o *Options) { o.Deadline, o.Refreshes = Never, owned }),
		of("release-by-number", Slots, "lease-respected", "a release clears the row without asking for its token: whoever has it since loses a lease that lives",
			func(o *Options) { o.Deadline, o.Released, o.Lease = Never, clearAny, 8 }),
		// FACTS H7
		of("refresh-by-token", Master, "limit-respected",
			"a refresh extends its row, whether the lease is over or not: one that ends between another's DELETE and its COUNT lives on beside the other's",
			func(o *Options) { o.Refreshes, o.Lease = owned, 20 }),
	}
}

// inRows are the bugs of a lock that adds its slots' rows, and of limits that callers state.
func inRows(of mutant) []*lock.Target {
	limited := func(t *lock.Target) *lock.Target {
		t.Traits |= lock.Limits
		return t
	}
	return []*lock.Target{
		// FACTS H3
		limited(of("counted-rows", Slots, "honest-full", "rows are added if there are fewer than the limit: those beyond a smaller limit count as well",
			func(o *Options) { o.Rows, o.Released = counted, deleteRow })),
		// FACTS H2
		of("highest-row", Slots, "honest-full", "rows are added behind the highest: one that was deleted before it never comes back",
			func(o *Options) { o.Rows, o.Released = highest, deleteRow }),
		// FACTS H4
		of("narrow-numbers", Slots, "progress", "the column of slots' numbers is too small for the limit: every acquire fails",
			func(o *Options) { o.Rows, o.Numbers = each, narrow }),
		// FACTS H5
		limited(of("limits-differ", Slots, "limit-respected", "callers state limits of their own: one takes a slot below its limit while others hold those beyond it", same)),
	}
}

// onMariaDB are the bugs that only MariaDB shows.
func onMariaDB(of mutant) []*lock.Target {
	return []*lock.Target{
		// FACTS M3
		of("nowait-ignored", Slots, "linearizable", "the error of NOWAIT is not known by its number, and ignored",
			func(o *Options) { o.OnTimeout, o.Locking = proceed, noWait }),
		// FACTS M5
		of("gaps", Master, "progress", "REPEATABLE READ, without another try: locks on gaps between the rows of two keys make a deadlock",
			func(o *Options) { o.Isolation, o.Retries = sql.RepeatableRead.String(), 0 }),
		// FACTS H8
		of("rows-within", Slots, "progress", "REPEATABLE READ, without another try: acquire adds rows in the transaction that has found none, and locked the gap between two keys' rows",
			func(o *Options) {
				o.Rows, o.Isolation, o.Retries = within, sql.RepeatableRead.String(), 0
			}),
		// FACTS M6
		of("old-snapshot", Master, "no-phantom-slot", "leases are counted before the master row is locked and again, at REPEATABLE READ: the second time sees the same",
			func(o *Options) { o.Counted, o.Isolation = Twice, sql.RepeatableRead.String() }),
	}
}

// onPostgres are the bugs that only PostgreSQL shows.
func onPostgres(of mutant) []*lock.Target {
	return []*lock.Target{
		// FACTS G1
		of("repeatable-read", Master, "no-phantom-slot", "lock, count, insert at REPEATABLE READ", func(o *Options) { o.Isolation = sql.RepeatableRead.String() }),
		// FACTS G2
		of("subselect", Slots, "mutual-exclusion", "a slot is claimed by a subselect that does not lock it", func(o *Options) { o.Claiming, o.Locking = inOne, unlocked }),
		// FACTS G3, G5
		of("transaction-time", Master, "mutual-exclusion", "the end of a lease is counted from the beginning of a transaction that waited",
			func(o *Options) { o.Clock = ClockNames[sql.TransactionTime] }),
	}
}
