package databases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockproof/lockproof/model/scenario"
	model "github.com/lockproof/lockproof/model/sql"
)

// Replay carries out the steps of a simulated trace on a real server. Each client sends its commands in the recorded order
// on its own connection, and every reply is compared with the recorded one. A client's lock machine depends only on the
// replies and its clock, so equal replies mean the same execution.
//
//   - A command that waits has no reply yet: Replay asks the server whether the command waits. The reply is compared in the
//     step in which the trace delivers it, and must have arrived by then. Before each step, every command under way has
//     ended or waits.
//   - Time is that of the trace: MariaDB's sessions get it by SET timestamp, and PostgreSQL's clocks are functions in the
//     database. Only a wait that ends by a lock wait timeout takes real time.
//   - A client's death, a dropped connection and a lost reply reset the socket, and the replay waits for the server's
//     reaction. A half-open connection is silent until the trace detects it.
//   - Restarts are left out, since the server may have other users.
//
// The rows are in a database that Replay makes, and drops at the end.
func (s *Server) Replay(ctx context.Context, t *scenario.Trace) (r *scenario.Replayed, err error) {
	r = &scenario.Replayed{Server: s.String(), Steps: len(t.Steps)}
	if r.Skipped = s.refuses(t); r.Skipped != "" {
		return r, nil
	}
	db, err := s.Database(ctx)
	if err != nil {
		return r, fmt.Errorf("replaying on %s: %w", r.Server, err)
	}
	p := replayer{db: db, trace: t, clients: make([]client, len(t.Scenario.Clients))}
	defer func() { err = errors.Join(err, p.end()) }()
	if err := p.setUp(ctx); err != nil {
		return r, fmt.Errorf("replaying on %s, before the first step: %w", r.Server, err)
	}
	return r, r.Follow(t, func(i int, step *scenario.TraceStep) (string, error) { return p.step(ctx, i, step) })
}

// refuses returns the reason why a trace cannot be replayed, or "" if it can.
func (s *Server) refuses(t *scenario.Trace) string {
	for i := range t.Steps {
		if t.Steps[i].Action.Kind == scenario.Restart {
			return "the trace restarts the server, which others may use"
		}
		if sent, ok := t.Steps[i].Payload.(model.Sent); ok && s.Dialect == model.MariaDB && sent.Command.Verb != model.Open && sent.Command.Clock == model.SystemTime {
			return "the trace reads SYSDATE(), which no session can set"
		}
	}
	return ""
}

// replayer holds the clients and sessions of a replay.
type replayer struct {
	db      *Database
	trace   *scenario.Trace
	clients []client
	left    []*Session // sessions whose clients are gone, and that the server may still have
	now     int64
}

// client is a client's session, together with the sessions that it has abandoned.
type client struct {
	*Session
	due      int64      // virtual time at which the wait of the client's command times out; 0 if it does not
	halfOpen []*Session // abandoned sessions whose sockets are still open
}

func (p *replayer) setUp(ctx context.Context) error {
	if err := p.db.virtual(ctx); err != nil {
		return err
	}
	for i := range p.trace.Setup {
		step := &p.trace.Setup[i]
		sent, ok := step.Payload.(model.Sent)
		if !ok {
			return errors.New("the trace is of no database")
		}
		var err error
		if c := step.Action.Client; c > 0 {
			_, err = p.send(ctx, 0, &p.clients[c-1], &sent)
		} else {
			err = p.db.Exec(ctx, sent.Command.Text(p.db.Dialect, int(sent.Command.Lock)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step carries out step i. said describes how the result differs from the recorded one; "" if it does not.
func (p *replayer) step(ctx context.Context, i int, step *scenario.TraceStep) (said string, err error) {
	p.now = step.Time
	if err := errors.Join(p.db.pass(ctx, p.now), p.quiet(ctx)); err != nil {
		return "", err
	}
	a := step.Action
	if a.Client == 0 {
		return "", nil
	}
	c := &p.clients[a.Client-1]
	switch a.Kind {
	case scenario.Step, scenario.CrashEffect, scenario.CrashReply, scenario.Lose:
		said, err = p.take(ctx, i, c, step)
	case scenario.Drop:
		p.cut(c.Session)
		c.Session = nil
	case scenario.Detect:
		for _, s := range c.halfOpen {
			p.cut(s)
		}
		c.halfOpen = nil
	}
	if a.Kind.Crash() || a.Kind == scenario.Lose {
		p.leave(c, a.Late)
	}
	if err == nil && said == "" {
		err = p.quiet(ctx)
	}
	return said, err
}

// take sends a client's next command, or receives the reply to its command that has waited. It returns how the reply
// differs from the recorded one; "" if it does not.
func (p *replayer) take(ctx context.Context, i int, c *client, step *scenario.TraceStep) (string, error) {
	sent, ok := step.Payload.(model.Sent)
	if !ok || sent.Reply.Code == model.Gone {
		return "", nil
	}
	var got model.Reply
	var err error
	switch {
	case c.Session != nil && c.Pending():
		if _, there := c.Arrived(); !there {
			return fmt.Sprintf("%s: expected %v, and it waits still", text(p.db, &sent), sent.Reply), nil
		}
		c.due = 0
		got, err = c.Answer(ctx, patience)
	default:
		got, err = p.send(ctx, i, c, &sent)
	}
	if got.RolledBack = sent.Reply.RolledBack; err == nil && got != sent.Reply { // the drivers do not report this
		return fmt.Sprintf("%s: expected %v, got %v", text(p.db, &sent), sent.Reply, got), nil
	}
	return "", err
}

func text(d *Database, s *model.Sent) string {
	return s.Command.Text(d.Dialect, int(s.Command.Lock))
}

// send sends a client's command, and returns the reply, or Blocked if the command waits for a lock.
func (p *replayer) send(ctx context.Context, i int, c *client, sent *model.Sent) (r model.Reply, err error) {
	if sent.Command.Verb == model.Open {
		p.leave(c, false)
		c.Session, err = p.db.Session(ctx, sent.Command.Level, 0)
		return model.Reply{}, err
	}
	if c.Session == nil {
		return r, errors.New("the trace has a client go on without a connection")
	}
	if err := c.at(ctx, p.now, sent.Command.Verb == model.Begin); err != nil {
		return r, err
	}
	if err := p.limit(ctx, i, c, sent); err != nil {
		return r, err
	}
	command := sent.Command
	c.Send(&command)
	return c.Reply(ctx, patience)
}

// lockWait is the lock wait timeout, in seconds, for a wait that the trace ends by timeout. It is long enough to replay the
// steps in between.
const lockWait = 2

// limit sets a lock wait timeout if the trace says that the command's wait ends by timeout.
func (p *replayer) limit(ctx context.Context, i int, c *client, sent *model.Sent) error {
	if sent.Reply.Code != model.Blocked || p.answer(i).Code != model.LockTimeout {
		return nil
	}
	wait, err := strconv.ParseInt(p.trace.Scenario.Options.Value("lock-wait"), 10, 64)
	if err != nil {
		return fmt.Errorf("lock-wait: %w", err)
	}
	c.due = p.now + wait
	setting := fmt.Sprintf("innodb_lock_wait_timeout = %d", lockWait)
	if p.db.Dialect == model.Postgres {
		setting = fmt.Sprintf("lock_timeout = '%ds'", lockWait)
	}
	return c.Set(ctx, setting)
}

// answer returns the reply that the trace has for a command that has waited since step i.
func (p *replayer) answer(i int) model.Reply {
	by := p.trace.Steps[i].Action.Client
	for _, s := range p.trace.Steps[i+1:] {
		if sent, ok := s.Payload.(model.Sent); ok && s.Action.Client == by {
			return sent.Reply
		}
	}
	return model.Reply{Code: model.Blocked}
}

// leave makes a client abandon its connection. If late is true, the server is not to notice yet.
func (p *replayer) leave(c *client, late bool) {
	switch {
	case c.Session == nil:
	case late:
		c.halfOpen = append(c.halfOpen, c.Session)
	default:
		p.cut(c.Session)
	}
	c.Session = nil
}

func (p *replayer) cut(s *Session) {
	if s != nil {
		s.Cut()
		p.left = append(p.left, s)
	}
}

// quiet waits until no command is under way: each has ended, or waits for a lock.
func (p *replayer) quiet(ctx context.Context) error {
	end := time.Now().Add(patience)
	for {
		quiet, err := p.look(ctx)
		if quiet || err != nil {
			return err
		}
		if time.Now().After(end) {
			return errSilent
		}
		time.Sleep(pace)
	}
}

// look reports whether each command has ended or waits for a lock. It returns false if a command or a session has
// ended since it began to look.
func (p *replayer) look(ctx context.Context) (bool, error) {
	quiet := true
	for i := range p.clients {
		c := &p.clients[i]
		for _, s := range append(slices.Clone(c.halfOpen), c.Session) {
			still, err := p.still(ctx, s)
			if err != nil {
				return false, err
			}
			quiet = quiet && still && (c.due == 0 || c.due > p.now || s != c.Session || s.early != nil)
		}
	}
	for i := len(p.left) - 1; i >= 0; i-- {
		there, err := p.left[i].There(ctx)
		if err == nil && !there {
			p.left[i].Close()
			p.left = slices.Delete(p.left, i, i+1)
			quiet = false
			continue
		}
		waits := false
		if err == nil {
			waits, err = p.left[i].Waits(ctx)
		}
		if quiet = quiet && waits; err != nil {
			return false, err
		}
	}
	return quiet, nil
}

// still reports whether a session's command had been answered before this look, or waits for a lock.
func (p *replayer) still(ctx context.Context, s *Session) (bool, error) {
	if s == nil || !s.Pending() || s.early != nil {
		return true, nil
	}
	if _, now := s.Arrived(); now {
		return false, nil
	}
	return s.Waits(ctx)
}

// end closes all sessions, and drops the replay's database.
func (p *replayer) end() error {
	for i := range p.clients {
		for _, s := range append(p.clients[i].halfOpen, p.clients[i].Session) {
			if s != nil {
				s.Close()
			}
		}
	}
	for _, s := range p.left {
		s.Close()
	}
	return p.db.Close()
}
