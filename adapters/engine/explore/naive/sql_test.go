package naive_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// sqlCommand is a command that a client of a lock in a database sends. The lock has two published forms, for example
// one with a row for each slot (slotForm).
type sqlCommand int8

const (
	sqlBegin sqlCommand = iota
	sqlCountFirst
	sqlMaster
	sqlPurge
	sqlCount
	sqlInsert
	sqlFind
	sqlClaim
	sqlSubclaim
	sqlWhich
	sqlExtend
	sqlClear
	sqlCommit
	sqlRollback
)

var sqlNames = [...]string{"begin", "count", "lock master", "delete ended", "count", "insert", "find", "claim", "claim by subselect", "which",
	"extend", "clear", "commit", "roll back"}

// The errors of a command. sqlOK means that the command succeeded with a number of rows.
const (
	sqlOK int8 = iota
	sqlTimeout
	sqlSerialization
	sqlAborted
)

// sqlModel is a configuration. Its fields are options of the lock. Times are in milliseconds.
type sqlModel struct {
	postgres, slotForm, repeatable bool
	counted, clock, locking, claim string
	anyRelease, owned, proceed     bool
	deadline                       string
	lease, lockWait                int16
	retries                        int8
	clients, slots                 int
	calls                          []string
	crashes                        int8
	late                           bool
	programs                       map[string][]sqlCommand
	oldest                         int16
}

// sqlRow is a slot, a lease, or the lock's master row. It has the committed values, and those that the locking
// transaction has written.
type sqlRow struct {
	owner           int8 // client that has locked the row, from 1; 0 if none
	token, newToken int8 // 0 if the row has no lease
	until, newUntil int16
	changed         bool
	version         uint8
}

type sqlClient struct {
	op, pc                 int8
	dead, noticed          bool
	wait                   int8 // 1: the client waits for a row lock; 2: it has waited, and must still read the result
	rows, failure          int8
	at                     int8 // the row that the client's command waits for
	waited                 int16
	begun, stated, sent    int16 // begin of its transaction and statement; sending of the command that sets its lease
	inTransaction, aborted bool
	snapshot               bool
	old                    [7]sqlRow // the rows as of the snapshot of the client's transaction
	gaps                   uint8     // MariaDB, REPEATABLE READ: tokens that no other client may insert meanwhile
	candidates             uint8
	try, found             int8
	slot                   int8
	deadline, until        int16
	seen                   uint8
	full, lived, extended  bool
}

type sqlState struct {
	rows    [7]sqlRow // row 0 is the master row
	clients [3]sqlClient
	crashes int8
}

const (
	sqlFull int8 = -1 - iota
	sqlAgain
	sqlGone
	sqlGaveUp
)

// drawSQL draws a configuration of a lock in MariaDB or PostgreSQL.
func drawSQL(r *rand.Rand) (c configuration, ask func(int) outcome) {
	m := &sqlModel{postgres: r.IntN(2) == 0, slotForm: r.IntN(2) == 0, counted: "after-lock", claim: "select"}
	c.target = pick(r, "mariadb", "postgres")
	m.postgres = c.target == "postgres"
	c.target += "-master"
	if m.slotForm {
		c.target = strings.Replace(c.target, "master", "slots", 1)
		m.anyRelease = r.IntN(4) == 0
		if m.anyRelease {
			c.set("released", "clear-any")
		}
		if m.postgres {
			m.claim = pick(r, "select", "subselect")
			c.set("claiming", m.claim)
		}
	} else {
		m.counted = pick(r, "after-lock", "before-lock", "twice")
		c.set("counted", m.counted)
	}
	m.locking = pick(r, "wait", "wait", "nowait", "skip-locked", "none")
	c.set("locking", m.locking)
	m.repeatable = r.IntN(3) == 0
	if m.repeatable {
		c.set("isolation", "repeatable-read")
	}
	m.clock = pick(r, "system", "statement")
	if m.postgres {
		m.clock = pick(r, "system", "statement", "transaction")
	}
	c.set("clock", m.clock)
	m.owned = r.IntN(3) == 0
	if m.owned {
		c.set("refreshes", "owned")
	}
	m.deadline = pick(r, "sending", "sending", "reply", "never")
	c.set("deadline", m.deadline)
	m.lease = pick[int16](r, 5, 7, 9) // with shorter leases, single milliseconds would decide
	c.set("lease", m.lease)
	if m.lockWait = pick[int16](r, 0, 0, 2, 3); m.lockWait > 0 {
		c.set("lock-wait", m.lockWait)
	}
	if m.proceed = r.IntN(3) == 0; m.proceed {
		c.set("on-timeout", "proceed")
	}
	m.retries = pick[int8](r, 0, 1)
	c.set("retries", m.retries)
	c.clients, c.slots = 2, 1+r.IntN(2)
	c.calls = pick(r, "acquire", "acquire,release", "acquire,refresh", "acquire,refresh,release", "acquire,release,acquire")
	if r.IntN(4) == 0 && c.slots == 1 {
		c.clients, c.calls = 3, pick(r, "acquire", "acquire,release")
	}
	c.faults = sim.FaultBounds{Crashes: r.IntN(2), Late: r.IntN(2) == 0}
	m.clients, m.slots, m.calls = c.clients, c.slots, strings.Split(c.calls, ",")
	m.crashes, m.late = int8(c.faults.Crashes), c.faults.Late
	m.sqlLists()
	return c, func(most int) outcome { return visit(m.start(), most, m.next) }
}

func TestSQL(t *testing.T) {
	agree(t, 5, compared{
		"many":    {property.MutualExclusion, property.NoPhantomSlot, property.LimitRespected},
		"full":    {property.HonestFull},
		"lease":   {property.LeaseRespected},
		"renewal": {property.RenewalHonest},
	}, drawSQL, 267, 275, 408, 732, 741, 2093, 2166)
}
