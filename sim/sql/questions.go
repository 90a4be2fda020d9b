package sql

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/question"
)

// ask registers the open questions about locks in rows of a database. In the questions about the master form, most
// clients only acquire: with more operations there are close to a million states.
func ask(d sql.Dialect, title string) {
	acquire := []scenario.Operation{question.Do(lock.Acquire)}
	use := []scenario.Operation{question.Do(lock.Acquire), question.Do(lock.Refresh), question.Do(lock.Release)}
	on := func(setting, target string, calls []scenario.Operation, options ...string) question.Row {
		return question.Visit(setting, question.Clients(2, 1, sim.FaultBounds{Late: true}, calls, options...).Of(d.String()+"-"+target))
	}
	own := questionsOf(d, on)
	aside := ""
	if d == sql.MariaDB {
		aside = " (Here and in what follows, the lock with the bug has clock=statement besides, as all that are replayed; by itself that changes nothing.)"
	}
	question.Register(d.String(), &question.Set{
		Title: "open questions about locks on " + title,
		Questions: append([]question.Question{
			{Ask: "May a free slot be looked for with SKIP LOCKED?", Rows: []question.Row{
				on("FOR UPDATE", "slots", use),
				on("FOR UPDATE SKIP LOCKED", "skip-locked", use),
			}, Answer: "It grants nothing wrong, and refuses wrongly: a row that somebody merely looks at, for a release or a refresh, counts as taken, and a client is told that all is held when it is not. Waiting for the row costs that wait and tells the truth." + aside},
			{Ask: "Must a slot's row be locked when it is looked for?", Rows: []question.Row{
				on("FOR UPDATE", "slots", use),
				on("a plain SELECT", "unlocked-slot", use),
			}, Answer: "Yes, or the claim has to say again what it found: two clients see the same free row, and the second overwrites the first."},
			{Ask: "When are leases counted: before the master row is locked, or after?", Rows: []question.Row{
				on("after", "master", acquire),
				on("before", "count-first", acquire),
				on("before, and again after it", "master", acquire, "counted=twice"),
			}, Answer: "After it, in a statement of its own: what was counted before is what somebody else has changed meanwhile. Counting first, to refuse without the lock, is right if it is counted again."},
			{Ask: "What is to be done about the error of a lock that was not to be had in time?", Rows: []question.Row{
				on("roll back and try again", "slots", use, "lock-wait=4"),
				on("go on with the transaction", "timeout-ignored", use),
			}, Answer: "Roll back and begin again. A transaction that goes on without the row it asked for commits what it did not do: a release says yes, and the lease stays."},
		}, own...),
	})
}

// questionsOf returns the questions that are specific to the server of dialect d. on makes a row for a lock with the
// given operations and options.
func questionsOf(d sql.Dialect, on func(setting, target string, calls []scenario.Operation, options ...string) question.Row) []question.Question {
	acquire := []scenario.Operation{question.Do(lock.Acquire)}
	refreshed := append(acquire, question.Do(lock.Refresh))
	if d == sql.MariaDB {
		honest := func(setting string, options ...string) question.Row {
			r := on(setting, "slots", refreshed, options...)
			r.Clients, r.Judge, r.First = 3, []property.Property{property.HonestFull}, true
			return r
		}
		return []question.Question{
			{Ask: "Which isolation level?", Rows: []question.Row{
				on("READ COMMITTED", "master", acquire),
				on("REPEATABLE READ", "master", acquire, "isolation=repeatable-read"),
				on("REPEATABLE READ, counted before the lock and again after it", "old-snapshot", acquire),
			}, Answer: "READ COMMITTED, set by the code that takes the lock. InnoDB's REPEATABLE READ is right as long as nothing was read before the row was locked: the first plain SELECT makes the snapshot, and what is counted after the lock is then counted in the past. Its locks on gaps make deadlocks between keys besides."},
			{Ask: "By which clock does a lease end?", Rows: []question.Row{
				honest("the moment of asking: SYSDATE(6)"),
				honest("the beginning of the statement: NOW(6)", "clock=statement"),
				on("the same, two clients, all properties", "slots", refreshed, "clock=statement"),
			}, Answer: "By SYSDATE(). A statement that waits for a slot's row has an old NOW() when it goes on: it takes a lease for living that ended while it waited, and says that all is held though nobody holds anything. It grants nothing wrong: whoever waits for the master row takes the time in a later statement."},
		}
	}
	exclusive := func(r question.Row) question.Row {
		r.Judge, r.First = []property.Property{property.MutualExclusion}, true
		return r
	}
	return []question.Question{
		{Ask: "Which isolation level?", Rows: []question.Row{
			on("READ COMMITTED", "master", acquire),
			on("REPEATABLE READ", "repeatable-read", acquire),
		}, Answer: "READ COMMITTED. The snapshot of REPEATABLE READ is made by the statement that locks the master row, before it waits: what is counted after the wait is counted in the past, and no error says so, since the row itself was not changed."},
		{Ask: "May a slot be claimed by one UPDATE with a subselect?", Rows: []question.Row{
			on("look FOR UPDATE, then claim", "slots", acquire),
			on("UPDATE … WHERE num = (SELECT … LIMIT 1)", "subselect", acquire),
		}, Answer: "Not unless the subselect locks: it is not evaluated again after the UPDATE has waited for the row, so that the second client overwrites the first."},
		{Ask: "By which clock does a lease end?", Rows: []question.Row{
			exclusive(on("the moment of asking: clock_timestamp()", "master", refreshed)),
			exclusive(on("the beginning of the transaction: now()", "transaction-time", refreshed)),
		}, Answer: "By clock_timestamp(). The time of now() is that of the transaction's beginning, before it waited: leases are shorter than their holders believe."},
	}
}
