package databases_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim/sql/rowstore"
)

// A real server makes choices by chance: which of several woken sessions continues first, and which session a
// deadlock aborts. So a step can lead to several states. The test keeps a simulated store for each state that the
// real server may be in, and removes those that disagree with a reply.

// outcomes returns the possible stores after a command. The first is the one in which every choice takes the first
// alternative.
func (m *match) outcomes(on uint8, c *sql.Command) (all []*rowstore.Store) {
	for _, s := range m.possible {
		s.Now = int64(len(m.times)) * tick
		for ways := (choices{}); ; {
			next := s.Clone()
			next.Choose = func(among int) int {
				next.Now++ // sessions continue one after the other
				return ways.choose(among)
			}
			next.Apply(on, c)
			next.Choose = nil
			all = append(all, next)
			if !ways.next() {
				break
			}
		}
	}
	return all
}

// choices enumerates all sequences of random choices in one step.
type choices struct {
	taken, among []int
	at           int
}

func (c *choices) choose(among int) int {
	if among == 1 {
		return 0
	}
	if c.at == len(c.taken) {
		c.taken, c.among = append(c.taken, 0), append(c.among, among)
	}
	c.at++
	return c.taken[c.at-1]
}

// next changes to the next sequence of choices, and returns false if there is none.
func (c *choices) next() bool {
	c.at = 0
	for i := len(c.taken) - 1; i >= 0; i-- {
		if c.taken[i]++; c.taken[i] < c.among[i] {
			return true
		}
		c.taken, c.among = c.taken[:i], c.among[:i]
	}
	return false
}

// distinct removes stores that are equal to an earlier one.
func distinct(all []*rowstore.Store) []*rowstore.Store {
	if len(all) < 2 {
		return all
	}
	known, kept := map[string]bool{}, all[:0]
	for _, s := range all {
		if text := fmt.Sprintf("%+v", *s); !known[text] {
			known[text] = true
			kept = append(kept, s)
		}
	}
	return kept
}

// replies holds for each session the reply to its command, or Blocked if the command waits; nil if the session has
// sent no command.
type replies [3]*sql.Reply

// answers returns the replies of a simulated store to those sessions for which got has a reply.
func answers(s *rowstore.Store, got replies) (all replies) {
	for i := range got {
		if got[i] != nil {
			r := s.Answer(uint8(i + 1))
			r.RolledBack = false // the drivers do not report RolledBack
			all[i] = &r
		}
	}
	return all
}

// like reports whether a simulated store gives the replies in r.
func (r replies) like(s *rowstore.Store) bool { return r.String() == answers(s, r).String() }

func (r replies) String() string {
	var said []string
	for i := range r {
		if r[i] != nil {
			said = append(said, fmt.Sprintf("%d: %v", i+1, *r[i]))
		}
	}
	return strings.Join(said, ", ")
}

func (r replies) deadlock() bool {
	for i := range r {
		if r[i] != nil && r[i].Code == sql.Deadlock {
			return true
		}
	}
	return false
}

// rest waits until the replies of the real server equal those of one of the stores, and returns them. Until then,
// commands may still be under way.
func (m *match) rest(ctx context.Context, next []*rowstore.Store) (got replies, err error) {
	deadlock, before := false, ""
	for _, s := range next {
		for i := range m.waiting {
			deadlock = deadlock || m.waiting[i] && s.Answer(uint8(i+1)).Code == sql.Deadlock
		}
	}
	pace := 100 * time.Microsecond
	for end := time.Now().Add(m.wait); time.Now().Before(end) && ctx.Err() == nil; pace = min(2*pace, 2*time.Millisecond) {
		time.Sleep(pace)
		var still bool
		if got, still, err = m.look(ctx, pace > time.Millisecond); err != nil {
			return got, err
		}
		for _, s := range next {
			if !still || !got.like(s) {
				continue
			}
			if deadlock && before != got.String() {
				break // PostgreSQL finds a deadlock only after a while
			}
			return got, m.accept(ctx, got)
		}
		if before = got.String(); deadlock {
			time.Sleep(20 * time.Millisecond)
		}
	}
	want := map[string]bool{}
	said := ""
	for _, s := range next {
		if text := answers(s, got).String(); !want[text] {
			want[text] = true
			said += "\n   " + text
		}
	}
	return got, fmt.Errorf("expected one of%s\ngot %s", said, got)
}

// look returns the replies that have arrived. still is true if all other sessions wait for a lock, at one moment. If
// ask is false, it does not ask the server about waits; then still is true only if all replies have arrived.
func (m *match) look(ctx context.Context, ask bool) (got replies, still bool, err error) {
	unanswered := false
	for i, s := range m.sessions {
		if m.waiting[i] {
			got[i] = &sql.Reply{Code: sql.Blocked}
			if r, ok := s.Arrived(); ok {
				got[i] = &r
			} else {
				unanswered = true
			}
		}
	}
	if !unanswered || !ask {
		return got, !unanswered, nil
	}
	waiting, err := m.db.Waiting(ctx)
	still = err == nil
	for i, s := range m.sessions {
		if got[i] != nil && got[i].Code == sql.Blocked {
			still = still && s.Among(waiting)
		}
	}
	return got, still, err
}

// accept takes the replies that have arrived, so that the sessions can send again.
func (m *match) accept(ctx context.Context, got replies) error {
	for i, s := range m.sessions {
		if got[i] != nil && got[i].Code != sql.Blocked {
			if _, err := s.Answer(ctx, patience); err != nil {
				return fmt.Errorf("%d: %w", i+1, err)
			}
		}
	}
	return nil
}
