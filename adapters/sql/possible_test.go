package databases_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim/sql/rowstore"
)

// On a real server it is chance which of several woken sessions continues first, and which of several a deadlock
// aborts. A step can therefore lead to several states, and the server is like one of them. The test keeps the
// possible states, as one follows a non-deterministic automaton, and each reply removes some.

// outcomes are the possible stores after a command, the one without random choices first.
func (m *match) outcomes(on uint8, c *sql.Command) (all []*rowstore.Store) {
	for _, s := range m.possible {
		s.Now = int64(len(m.times)) * tick
		for ways := (choices{}); ; {
			next := s.Clone()
			next.Choose = func(among int) int {
				next.Now++ // each session continues after the one before
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

// choices enumerates all sequences of choices.
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

// next goes on to the next sequence, and reports whether there is one.
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

// distinct leaves out stores that are equal to an earlier one.
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

// replies are the replies to sessions that have sent a command, or that they wait; nil is a session that has sent
// none.
type replies [3]*sql.Reply

// answers are a store's replies to those who have some in got.
func answers(s *rowstore.Store, got replies) (all replies) {
	for i := range got {
		if got[i] != nil {
			r := s.Answer(uint8(i + 1))
			r.RolledBack = false // the drivers do not say
			all[i] = &r
		}
	}
	return all
}

// like reports whether a store answers so.
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

// rest waits until all that is under way on the real server is answered or waits, as one of the stores has it, and gives the
// replies.
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
				break // PostgreSQL finds a deadlock some time after it has come about
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

// look returns the replies so far, and whether they are all: sessions without a reply all waited at one moment when
// the server was asked. Without asking, only replies count.
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

// accept takes the answers that have come.
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
