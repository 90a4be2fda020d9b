package leases

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/sql"
)

// offers are the operations of these locks. There is no verify: in the text, a verify is a refresh.
var offers = []lock.Op{lock.Acquire, lock.Refresh, lock.Release}

// target makes a target of a form, with a change of the options. Options that it does not set are those of a scenario.
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

// skipping makes an acquire look only at rows that no other client has locked.
func skipping(o *Options) { o.Locking = skipLocked }

// References are the locks that should violate no property.
func References(d sql.Dialect) []*lock.Target {
	all := []*lock.Target{
		target(d, "master", Master, "", "leases in rows, under a row of the lock's that whoever changes them locks first", same),
		target(d, "slots", Slots, "", "a row for each slot, found FOR UPDATE and claimed in one transaction", same),
	}
	return all
}

// Mutants are the references with one bug each. A label of sim/FACTS.md says where a bug is from: H is a version of a
// published library, M and G are the behaviour of a real server.
func Mutants(d sql.Dialect) []*lock.Target {
	with := func(name, form, breaks, doc string, change func(*Options)) *lock.Target {
		return target(d, name, form, breaks, doc, func(o *Options) {
			if d == sql.MariaDB {
				o.Clock = ClockNames[sql.StatementTime] // SYSDATE() cannot be set, and so not be replayed
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

// mutant makes a target of a form that has one bug, which violates the property breaks.
type mutant func(name, form, breaks, doc string, change func(*Options)) *lock.Target

// inBoth are bugs of transactions, clocks and refreshes, which MariaDB and PostgreSQL both have.
func inBoth(of mutant) []*lock.Target {
	return []*lock.Target{
		// See FACTS H6, M4 in sim/FACTS.md.
		of("skip-locked", Slots, "honest-full", "a slot is looked for with SKIP LOCKED: one that somebody merely looks at counts as taken", skipping),
		of("unlocked-slot", Slots, "mutual-exclusion", "a slot is looked for without locking its row", func(o *Options) { o.Locking = unlocked }),
		// See FACTS M1 in sim/FACTS.md.
		of("timeout-ignored", Slots, "effective-release", "the error of a lock that was not to be had in time is ignored, and the transaction goes on",
			func(o *Options) { o.OnTimeout, o.LockWait = proceed, 3 }),
		// See FACTS M10, G4 in sim/FACTS.md.
		of("deadline-late", Slots, "mutual-exclusion", "a client counts its lease from the reply, and the server from the beginning of a statement that waited",
			func(o *Options) { o.Deadline = fromAnswer }),
		of("count-first", Master, "no-phantom-slot", "leases are counted before the master row is locked", func(o *Options) { o.Counted = beforeLock }),

		// The clients of the next two mutants have no clock: they learn only from the next answer that a lease is over.
		// See FACTS H7 in sim/FACTS.md.
		of("revived", Slots, "renewal-honest", "a refresh brings a lease back that was over, if nobody took its slot: its client learns only then whether it has it",
			func(o *Options) { o.Deadline, o.Refreshes = Never, owned }),
		of("release-by-number", Slots, "lease-respected", "a release clears the row without asking for its token: whoever has it since loses a lease that lives",
			func(o *Options) { o.Deadline, o.Released, o.Lease = Never, clearAny, 8 }),
		// See FACTS H7 in sim/FACTS.md.
		of("refresh-by-token", Master, "limit-respected",
			"a refresh extends its row, whether the lease is over or not: one that ends between another's DELETE and its COUNT lives on beside the other's",
			func(o *Options) { o.Refreshes, o.Lease = owned, 20 }),
	}
}

// inRows are bugs of locks that add their slots' rows, and of limits that callers state.
func inRows(of mutant) []*lock.Target {
	limited := func(t *lock.Target) *lock.Target {
		t.Traits |= lock.Limits
		return t
	}
	return []*lock.Target{
		// See FACTS H3 in sim/FACTS.md.
		limited(of("counted-rows", Slots, "honest-full", "rows are added if there are fewer than the limit: those beyond a smaller limit count as well",
			func(o *Options) { o.Rows, o.Released = counted, deleteRow })),
		// See FACTS H2 in sim/FACTS.md.
		of("highest-row", Slots, "honest-full", "rows are added behind the highest: one that was deleted before it never comes back",
			func(o *Options) { o.Rows, o.Released = highest, deleteRow }),
		// See FACTS H4 in sim/FACTS.md.
		of("narrow-numbers", Slots, "progress", "the column of slots' numbers is too small for the limit: every acquire fails",
			func(o *Options) { o.Rows, o.Numbers = each, narrow }),
		// See FACTS H5 in sim/FACTS.md.
		limited(of("limits-differ", Slots, "limit-respected", "callers state limits of their own: one takes a slot below its limit while others hold those beyond it", same)),
	}
}

// onMariaDB are bugs that show on MariaDB only.
func onMariaDB(of mutant) []*lock.Target {
	return []*lock.Target{
		// See FACTS M3 in sim/FACTS.md.
		of("nowait-ignored", Slots, "linearizable", "the error of NOWAIT is not known by its number, and ignored",
			func(o *Options) { o.OnTimeout, o.Locking = proceed, noWait }),
		// See FACTS M5 in sim/FACTS.md.
		of("gaps", Master, "progress", "REPEATABLE READ, without another try: locks on gaps between the rows of two keys make a deadlock",
			func(o *Options) { o.Isolation, o.Retries = sql.RepeatableRead.String(), 0 }),
		// See FACTS H8 in sim/FACTS.md.
		of("rows-within", Slots, "progress", "REPEATABLE READ, without another try: acquire adds rows in the transaction that has found none, and locked the gap between two keys' rows",
			func(o *Options) {
				o.Rows, o.Isolation, o.Retries = within, sql.RepeatableRead.String(), 0
			}),
		// See FACTS M6 in sim/FACTS.md.
		of("old-snapshot", Master, "no-phantom-slot", "leases are counted before the master row is locked and again, at REPEATABLE READ: the second time sees the same",
			func(o *Options) { o.Counted, o.Isolation = Twice, sql.RepeatableRead.String() }),
	}
}

// onPostgres are bugs that show on PostgreSQL only.
func onPostgres(of mutant) []*lock.Target {
	return []*lock.Target{
		// See FACTS G1 in sim/FACTS.md.
		of("repeatable-read", Master, "no-phantom-slot", "lock, count, insert at REPEATABLE READ", func(o *Options) { o.Isolation = sql.RepeatableRead.String() }),
		// See FACTS G2 in sim/FACTS.md.
		of("subselect", Slots, "mutual-exclusion", "a slot is claimed by a subselect that does not lock it", func(o *Options) { o.Claiming, o.Locking = inOne, unlocked }),
		// See FACTS G3, G5 in sim/FACTS.md.
		of("transaction-time", Master, "mutual-exclusion", "the end of a lease is counted from the beginning of a transaction that waited",
			func(o *Options) { o.Clock = ClockNames[sql.TransactionTime] }),
	}
}
