package sqlserver_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/sqlserver"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim/rowstore"
)

var (
	sequences  = flag.Int("sequences", 60, "how many random sequences are tried of each isolation level")
	executions = flag.Int("executions", 4, "how many executions of each reference are replayed")
	firstSeed  = flag.Uint64("seed", 1, "the first one's seed; the next has the next number")
)

// Random sequences of commands on three connections come to the same on the simulated store and on the real server, reply
// by reply: what was read and changed, which error, whether it waits, and which clock reading ended up in a row. A sequence
// that does not is made smaller, and told.
func TestRandomCommands(t *testing.T) {
	for _, d := range dialects {
		for _, level := range sql.Levels {
			if d == sql.Postgres && level == sql.Serializable {
				continue // it is not modelled, and refused as an option
			}
			t.Run(d.String()+"/"+level.String(), func(t *testing.T) {
				m := newMatch(t, database(t, d), level)
				wrong := 0
				for seed := *firstSeed; seed < *firstSeed+uint64(*sequences); seed++ {
					drafts := draw(rand.New(rand.NewPCG(seed, 0)), d)
					if err := m.play(t.Context(), drafts); err != nil {
						t.Errorf("seed %d: %v", seed, m.smallest(t.Context(), drafts, err))
						m.wait = patience
						if wrong++; wrong == 3 {
							break
						}
					}
				}
				t.Logf("%d sequences, %d commands, %d waited, %d deadlocks; %d sequences were left where chance decides: %d where several woke, %d at another victim", m.sequences, m.commands, m.waited, m.deadlocks, m.woken+m.victims, m.woken, m.victims)
			})
		}
	}
}

// draft is a step of a sequence: who sends what.
type draft struct {
	session uint8
	command sql.Command
}

// hour is a lease that does not end while a sequence lasts.
const hour = 3_600_000_000

// draw draws the steps of a sequence. Locks 1 and 2 are used; lock 3 has a row that nobody touches.
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
			c.If = sql.Owned // a row without a token has no lease
		}
		if c.Verb == sql.Claim && c.Set == sql.Renew {
			c.Set = sql.Grant
		}
		c.First = c.First && (c.Verb == sql.Select || c.Verb == sql.Claim)
		all = append(all, draft{uint8(r.IntN(3)), c})
	}
	return all
}

// smallest takes steps away from a sequence as long as the two disagree, and tells what is left.
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

// hurry is how long an answer is waited for once there was a disagreement: most of what is left of it disagrees as well.
const hurry = 200 * time.Millisecond

// match is a real database beside the simulated store.
type match struct {
	db       *sqlserver.Database
	level    sql.Level
	sessions [3]*sqlserver.Session
	offset   int
	wait     time.Duration // for an answer

	store    *rowstore.Store
	times    []int64 // the real clock before each step
	waiting  [3]bool
	chance   bool // the step at hand has woken several: who goes on first, nobody knows
	sequence []string

	sequences, commands, waited, deadlocks int
	woken, victims                         int // sequences that were left, and why
}

func newMatch(t *testing.T, db *sqlserver.Database, level sql.Level) *match {
	m := &match{db: db, level: level, wait: patience}
	if db.Dialect == sql.MariaDB {
		// As long as somebody sees the past, deleted rows stay: when else they go is the server's business.
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

// play plays a sequence on both sides.
func (m *match) play(ctx context.Context, drawn []draft) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s\n%w", strings.Join(m.sequence, "\n"), err)
			m.hangUp() // what state they are in, nobody knows
		}
	}()
	if err := m.begin(ctx); err != nil {
		return err
	}
	for _, d := range drawn {
		if m.waiting[d.session] || m.store.InTransaction(d.session+1) && d.command.Verb == sql.Begin {
			continue
		}
		if err := m.step(ctx, d.session, d.command); err != nil {
			return err
		}
		if m.chance {
			m.hangUp()
			return nil
		}
	}
	return m.finish(ctx)
}

// begin makes rows of its own for a sequence.
func (m *match) begin(ctx context.Context) error {
	m.sequences++
	m.offset += 4
	m.store = &rowstore.Store{Keep: true}
	m.store.Reset(m.db.Dialect)
	m.times, m.waiting, m.sequence, m.chance = m.times[:0], [3]bool{}, m.sequence[:0], false
	now, err := m.db.Now(ctx)
	if err != nil {
		return err
	}
	m.times = append(m.times, now)
	for _, table := range []sql.Table{sql.Leases, sql.Slots} {
		values := fmt.Sprintf("(%d, 0, NULL, NULL)", m.offset+3)
		m.store.Seed(table, 3, 0, 0, 0)
		for lock := 1; table == sql.Slots && lock <= 2; lock++ {
			for num := 1; num <= 3; num += lock {
				token, end := "NULL", "NULL" // of slot 2; slot 1's lease goes on, slot 3's is over
				if num != 2 {
					token, end = fmt.Sprint(num), fmt.Sprint(1)
				}
				if num == 1 {
					end = fmt.Sprint(m.times[0] + 10*hour)
				}
				values += fmt.Sprintf(", (%d, %d, %s, %s)", m.offset+lock, num, token, end)
				m.store.Seed(table, uint8(lock), uint8(num), uint8(num)*b(num != 2), int64(b(num == 1))*(10*hour+1))
			}
		}
		if err := m.db.Exec(ctx, fmt.Sprintf("INSERT INTO %s VALUES %s", table, values)); err != nil {
			return err
		}
	}
	for i := range m.sessions {
		m.store.Open(m.level)
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

// b is 1 for true.
func b(is bool) uint8 {
	if is {
		return 1
	}
	return 0
}

// step sends a command to both, and compares what comes of it and of those that have waited.
func (m *match) step(ctx context.Context, on uint8, c sql.Command) error {
	m.commands++
	now, err := m.db.Now(ctx)
	if err != nil {
		return err
	}
	m.times = append(m.times, now)
	m.store.Now = int64(len(m.times))
	there := c
	there.Time, c.Time = now, m.store.Now
	want := m.store.Apply(on+1, &c)
	m.sequence = append(m.sequence, fmt.Sprintf("%d: %s -> %v", on+1, there.Text(m.db.Dialect, int(c.Lock)), want))
	m.sessions[on].Send(&there)
	if m.store.Woken() > 1 {
		m.woken, m.chance = m.woken+1, true
		return nil
	}
	if cycle := m.store.Deadlock(); cycle != nil {
		if err := m.victim(ctx, cycle); err != nil || m.chance {
			return err
		}
	}
	if err := m.compare(ctx, on, want); err != nil || m.chance {
		return err
	}
	for i := range m.waiting {
		if other := uint8(i); m.waiting[i] && other != on {
			want := sql.Reply{Code: sql.Blocked}
			if !m.store.Waits(other + 1) {
				want = m.store.Answer(other + 1)
				m.sequence = append(m.sequence, fmt.Sprintf("   %d -> %v", i+1, want))
			}
			if err := m.compare(ctx, other, want); err != nil {
				return err
			}
		}
	}
	return nil
}

// victim waits until the real server has ended a transaction of a deadlock. If it is another than the simulated one's, what
// follows cannot be compared.
func (m *match) victim(ctx context.Context, cycle []uint8) error {
	for end := time.Now().Add(m.wait); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		for _, on := range cycle {
			if r, ok := m.sessions[on-1].Arrived(); ok && r.Code == sql.Deadlock {
				if m.chance = m.store.Waits(on) || m.store.Answer(on).Code != sql.Deadlock; m.chance {
					m.victims++
				}
				return nil
			}
		}
	}
	return fmt.Errorf("expected a deadlock of %v, and nobody was ended", cycle)
}

// compare has the real server answer a session as the simulated one has.
func (m *match) compare(ctx context.Context, on uint8, want sql.Reply) error {
	var got sql.Reply
	var err error
	if want.Code == sql.Blocked {
		got, err = m.sessions[on].Reply(ctx, patience)
	} else {
		got, err = m.sessions[on].Answer(ctx, m.wait)
	}
	if want.RolledBack {
		got.RolledBack = true // the drivers do not say
	}
	if err != nil {
		return fmt.Errorf("%d: expected %v: %w", on+1, want, err)
	}
	if got != want {
		return fmt.Errorf("%d: expected %v, got %v", on+1, want, got)
	}
	if want.Code == sql.Blocked && !m.waiting[on] {
		m.waited++
	}
	if want.Code == sql.Deadlock {
		m.deadlocks++
	}
	m.waiting[on] = want.Code == sql.Blocked
	return nil
}

// finish ends all transactions, and compares the rows that are left.
func (m *match) finish(ctx context.Context) error {
	for range m.sessions {
		for i := range m.sessions {
			if m.chance {
				m.hangUp()
				return nil
			}
			if !m.waiting[i] {
				if err := m.step(ctx, uint8(i), sql.Command{Verb: sql.Rollback}); err != nil {
					return err
				}
			}
		}
	}
	for _, table := range []sql.Table{sql.Leases, sql.Slots} {
		for lock := 1; lock <= 3; lock++ {
			rows, err := m.db.Rows(ctx, table, lock+m.offset)
			if err != nil {
				return err
			}
			var real, simulated []sqlserver.Row
			for _, r := range rows {
				r.Until = m.moment(r.Until)
				real = append(real, r)
			}
			m.store.Rows(table, uint8(lock), func(num, token uint8, until int64) {
				simulated = append(simulated, sqlserver.Row{Num: num, Token: token, Until: until})
			})
			if fmt.Sprint(real) != fmt.Sprint(simulated) {
				return fmt.Errorf("%v of lock %d: expected %v, got %v", table, lock, simulated, real)
			}
		}
	}
	return nil
}

// moment is a time of the real server's as the simulated store has it: the step at which it was read, and the lease.
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
	return n + lease
}
