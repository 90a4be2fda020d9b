package databases_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/sql"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim/sql/rowstore"
)

var (
	sequences  = flag.Int("sequences", 60, "how many random sequences are tried of each isolation level")
	executions = flag.Int("executions", 4, "how many executions of each reference are replayed")
	firstSeed  = flag.Uint64("seed", 1, "the first one's seed; the next has the next number")
)

// Random sequences of commands on three connections have the same results on the simulated store and on the real
// server, reply by reply. The test compares the rows read and changed, the errors, the waits, and the clock readings
// in rows. If a sequence differs, it is minimised and printed.
func TestRandomCommands(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		for _, level := range sql.Levels {
			if d == sql.Postgres && level == sql.Serializable {
				continue // the simulated store does not support this level of PostgreSQL
			}
			t.Run(d.String()+"/"+level.String(), func(t *testing.T) {
				t.Parallel() // it mostly waits, and uses its own database
				m := newMatch(t, database(t, d), level)
				wrong := 0
				for seed := *firstSeed; seed < *firstSeed+uint64(*sequences); seed++ {
					drafts := draw(rand.New(rand.NewPCG(seed, 0)), d)
					if err := m.play(t.Context(), drafts); err != nil {
						t.Errorf("seed %d: %v", seed, m.smallest(t.Context(), drafts, err))
						m.wait = patience
						if wrong++; wrong == 5 {
							break
						}
					}
				}
				t.Logf("%d sequences, %d commands, %d waited, %d deadlocks; in %d several who woke went on in another order than the simulated store's, in %d a deadlock had another victim; at most %d states were possible at once", m.sequences, m.commands, m.waited, m.deadlocks, m.orders, m.victims, m.widest)
			})
		}
	}
}

// draft is a step of a sequence: a session and its command.
type draft struct {
	session uint8
	command sql.Command
}

// hour is a lease, in microseconds, that does not end during a sequence.
const hour = 3_600_000_000

// draw draws the steps of a sequence. They use locks 1 and 2; the row of lock 3 is never used.
func draw(r *rand.Rand, d sql.Dialect) (all []draft) {
	verbs := []sql.Verb{sql.Begin, sql.Commit, sql.Select, sql.Select, sql.Select, sql.Count, sql.Insert, sql.Insert, sql.Update, sql.Update, sql.Delete}
	clocks := []sql.Clock{sql.StatementTime, sql.SystemTime, sql.GivenTime}
	if d == sql.Postgres {
		verbs, clocks = append(verbs, sql.Claim), append(clocks, sql.TransactionTime)
	}
	one := func(p float64) bool { return r.Float64() < p }
	for i := range uint8(3) {
		if one(0.7) {
			all = append(all, draft{i, sql.Command{Verb: sql.Begin}})
		}
	}
	for range 6 + r.IntN(12) {
		c := sql.Command{
			Verb: verbs[r.IntN(len(verbs))], Table: sql.Slots, Lock: 1, Num: uint8(r.IntN(5)), Token: uint8(1 + r.IntN(3)),
			Rows: []sql.Rows{sql.All, sql.One, sql.Below}[r.IntN(3)], If: []sql.If{sql.Any, sql.Any, sql.Any, sql.Owned, sql.Expired, sql.Free, sql.Live, sql.Kept}[r.IntN(8)],
			Read: []sql.Read{sql.Plain, sql.ForUpdate, sql.ForUpdate, sql.ForUpdate, sql.NoWait, sql.SkipLocked}[r.IntN(6)],
			Set:  sql.Set(r.IntN(3)), Clock: clocks[r.IntN(len(clocks))], First: one(0.4), Ignore: one(0.5),
		}
		if one(0.2) {
			c.Table = sql.Leases
		}
		if one(0.15) {
			c.Lock = 2
		}
		if one(0.5) {
			c.Lease = hour
		}
		if c.Verb == sql.Update && c.Set == sql.Renew && c.If != sql.Kept {
			c.If = sql.Owned // because a row without a token has no lease
		}
		if c.Verb == sql.Claim && c.Set == sql.Renew {
			c.Set = sql.Grant
		}
		c.First = c.First && (c.Verb == sql.Select || c.Verb == sql.Claim)
		all = append(all, draft{uint8(r.IntN(3)), c})
	}
	return all
}

// smallest removes steps from a sequence as long as the real server and the simulated stores still disagree. It
// returns the remaining sequence as an error.
func (m *match) smallest(ctx context.Context, drafts []draft, err error) error {
	m.wait = hurry
	for i := len(drafts) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(drafts), i, i+1)
		if still := m.play(ctx, fewer); still != nil {
			drafts, err = fewer, still
		}
	}
	return err
}

// hurry is the maximum wait for a reply while a sequence is minimised. It is short, since most shorter sequences
// disagree as well.
const hurry = 2 * time.Second

// match compares a real database with a set of simulated stores. Each store has one of the states in which the database
// may be.
type match struct {
	db       *databases.Database
	level    sql.Level
	sessions [3]*databases.Session
	offset   int
	wait     time.Duration // maximum time to wait for a reply

	possible []*rowstore.Store // the possible states of the server after its random choices
	usual    bool              // in the first of possible, every random choice has taken its first alternative
	times    []int64           // the real clock before each step, in Unix microseconds
	waiting  [3]bool
	sequence []string

	sequences, commands, waited, deadlocks int
	// orders counts the sequences in which the real server woke sessions in another order than the simulated store.
	// victims counts those in which it aborted another session at a deadlock.
	orders, victims int
	widest          int
}

func newMatch(t *testing.T, db *databases.Database, level sql.Level) *match {
	m := &match{db: db, level: level, wait: patience}
	if db.Dialect == sql.MariaDB {
		// While a session has an old snapshot, deleted rows stay; otherwise the server removes them at an unknown
		// time.
		past := session(t, db, sql.RepeatableRead)
		send(t, past, sql.Command{Verb: sql.Begin})
		send(t, past, sql.Command{Verb: sql.Count, Table: sql.Masters})
	}
	t.Cleanup(m.hangUp)
	return m
}

func (m *match) hangUp() {
	for i := range m.sessions {
		if m.sessions[i] != nil {
			m.sessions[i].Close()
		}
		m.sessions[i] = nil
	}
}

// play carries out a sequence on the real server and on the simulated stores.
func (m *match) play(ctx context.Context, drawn []draft) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s\n%w", strings.Join(m.sequence, "\n"), err)
			m.hangUp() // the state of the sessions is unknown
		}
	}()
	if err := m.begin(ctx); err != nil {
		return err
	}
	for _, d := range drawn {
		if m.waiting[d.session] || m.possible[0].InTransaction(d.session+1) && d.command.Verb == sql.Begin {
			continue
		}
		if err := m.step(ctx, d.session, d.command); err != nil {
			return err
		}
	}
	return m.finish(ctx)
}

// perPage is the number of sequences whose rows fit on one page of MariaDB: each has up to 20 rows of 35 bytes. If a
// page is split, its locks move to other rows. The simulated store has no pages, and so no such effect (FACTS M21).
const perPage = 20

// begin makes the rows that a sequence of commands uses.
func (m *match) begin(ctx context.Context) error {
	if m.db.Dialect == sql.MariaDB && m.sequences%perPage == 0 {
		for _, table := range []sql.Table{sql.Leases, sql.Slots} {
			if err := m.db.Exec(ctx, "TRUNCATE TABLE "+table.String()); err != nil {
				return err
			}
		}
	}
	m.sequences++
	m.offset += 4
	store := &rowstore.Store{Keep: true}
	store.Reset(m.db.Dialect)
	m.possible, m.usual = []*rowstore.Store{store}, true
	m.times, m.waiting, m.sequence = m.times[:0], [3]bool{}, m.sequence[:0]
	now, err := m.db.Now(ctx)
	if err != nil {
		return err
	}
	m.times = append(m.times, now)
	for _, table := range []sql.Table{sql.Leases, sql.Slots} {
		values := fmt.Sprintf("(%d, 0, NULL, NULL)", m.offset+3)
		store.Seed(table, 3, 0, 0, 0)
		for lock := 1; table == sql.Slots && lock <= 2; lock++ {
			for num := 1; num <= 3; num += lock {
				token, end := "NULL", "NULL" // slot 2 is free; slot 1's lease lasts, slot 3's is over
				if num != 2 {
					token, end = fmt.Sprint(num), fmt.Sprint(1)
				}
				if num == 1 {
					end = fmt.Sprint(m.times[0] + 10*hour)
				}
				values += fmt.Sprintf(", (%d, %d, %s, %s)", m.offset+lock, num, token, end)
				store.Seed(table, uint8(lock), uint8(num), uint8(num)*b(num != 2), int64(b(num == 1))*(10*hour+tick))
			}
		}
		if err := m.db.Exec(ctx, fmt.Sprintf("INSERT INTO %s VALUES %s", table, values)); err != nil {
			return err
		}
	}
	for i := range m.sessions {
		store.Open(m.level)
		if m.sessions[i] == nil {
			s, err := m.db.Session(ctx, m.level, 0)
			if err != nil {
				return err
			}
			m.sessions[i] = s
		}
		m.sessions[i].Offset = m.offset
	}
	return nil
}

// b returns 1 for true, and 0 for false.
func b(is bool) uint8 {
	if is {
		return 1
	}
	return 0
}

// step sends a command to both sides, and compares its reply and those of waiting commands.
func (m *match) step(ctx context.Context, on uint8, c sql.Command) error {
	m.commands++
	now, err := m.db.Now(ctx)
	if err != nil {
		return err
	}
	m.times = append(m.times, now)
	there := c
	there.Time, c.Time = now, int64(len(m.times))*tick
	next := m.outcomes(on+1, &c)
	m.sequence = append(m.sequence, fmt.Sprintf("%d: %s", on+1, there.Text(m.db.Dialect, int(c.Lock))))
	m.sessions[on].Send(&there)
	m.waiting[on] = true
	got, err := m.rest(ctx, next)
	if err != nil {
		return err
	}
	m.take(on, next, got)
	return nil
}

// take keeps those of the next stores that give the same replies as the server.
func (m *match) take(on uint8, next []*rowstore.Store, got replies) {
	usual := next[0]
	m.possible = distinct(slices.DeleteFunc(next, func(s *rowstore.Store) bool { return !got.like(s) }))
	m.widest = max(m.widest, len(m.possible))
	if m.usual && m.possible[0] != usual {
		m.usual = false
		if got.deadlock() || answers(usual, got).deadlock() {
			m.victims++
		} else {
			m.orders++
		}
	}
	for i, r := range got {
		if r == nil {
			continue
		}
		m.sequence = append(m.sequence, fmt.Sprintf("   %d -> %v", i+1, *r))
		switch r.Code {
		case sql.Blocked:
			if uint8(i) == on {
				m.waited++
			}
		case sql.Deadlock:
			m.deadlocks++
		}
		m.waiting[i] = r.Code == sql.Blocked
	}
}

// finish ends all transactions, and compares the remaining rows.
func (m *match) finish(ctx context.Context) error {
	for range m.sessions {
		for i := range m.sessions {
			if !m.waiting[i] {
				if err := m.step(ctx, uint8(i), sql.Command{Verb: sql.Rollback}); err != nil {
					return err
				}
			}
		}
	}
	real := ""
	for _, table := range []sql.Table{sql.Leases, sql.Slots} {
		for lock := 1; lock <= 3; lock++ {
			rows, err := m.db.Rows(ctx, table, lock+m.offset)
			if err != nil {
				return err
			}
			for i := range rows {
				rows[i].Until = m.moment(rows[i].Until)
			}
			real += fmt.Sprintf("%v of lock %d: %v\n", table, lock, rows)
		}
	}
	simulated := ""
	for _, s := range m.possible {
		if simulated = rowsOf(s); real == simulated {
			return nil
		}
	}
	return fmt.Errorf("expected\n%sgot\n%s", simulated, real)
}

// rowsOf returns the rows of a simulated store as text.
func rowsOf(s *rowstore.Store) (said string) {
	for _, table := range []sql.Table{sql.Leases, sql.Slots} {
		for lock := range uint8(3) {
			var rows []databases.Row
			s.Rows(table, lock+1, func(num, token uint8, until int64) {
				rows = append(rows, databases.Row{Num: num, Token: token, Until: until - until%tick})
			})
			said += fmt.Sprintf("%v of lock %d: %v\n", table, lock+1, rows)
		}
	}
	return said
}

// tick is the simulated time between two steps. It is long enough for all sessions that continue in one step, each
// one unit later than the one before.
const tick = 1 << 8

// moment converts the time in a row of the real server to simulated time. The row's time is the moment at which a step
// read the clock, plus a lease or not. The simulated time is that of the step, plus the same lease.
func (m *match) moment(at int64) int64 {
	lease := int64(0)
	for _, l := range []int64{10 * hour, hour} {
		if at >= m.times[0]+l {
			at, lease = at-l, lease+l
		}
	}
	n := int64(0)
	for n < int64(len(m.times)) && m.times[n] <= at {
		n++
	}
	return n*tick + lease
}
