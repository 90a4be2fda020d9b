package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/style"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// timeline is an execution in words. The terminal's diagram, the page's diagram and the transcript are all made from
// it.
type timeline struct {
	clients int
	drawn   []int // the clients that act or have an event
	kind    lock.Kind
	locks   []string // names of the locks
	steps   []step
	server  string // the word for the server
	unknown bool   // the server's state of the locks was not recorded
}

// step is one step of an execution. Step 0 of a timeline is the initial state.
type step struct {
	number int
	time   int64 // virtual milliseconds
	actor  int   // the acting client, from 1; 0 if the broker or time acts
	calls  []call
	// command and reply are those of the step. said describes its other events.
	command, reply, said string
	errors               []string // the clients' messages about failed calls

	leap       bool   // more time passed than a command takes
	fault      bool   // the step is a fault, or time passes
	noticeEnds bool   // the step concerns all clients at once
	exit       string // mark in the acting client's column if it died, or if the broker noticed its death

	columns []column        // by client, after the step
	truth   []monitor.Truth // by lock: the broker's state after the step
	broken  []scenario.Violation
	// decides are the violations that this step made unavoidable, and that show in a later step.
	decides []scenario.Violation
}

// The marks for the death of a client, and for the moment at which the broker notices it.
const (
	died    = "╳"
	noticed = "┴" // the broker noticed the death
)

// The marks of a violation: at the step that shows it, and at the step that made it unavoidable.
const (
	shows   = "✗"
	decided = "▶"
)

// call is an operation that began or ended in one step, or both.
type call struct {
	client     int
	begin, end string // in words; "" if the operation did not begin, or end, in this step
}

// column is the state of a client after a step.
type column struct {
	calling     bool // an operation is under way
	held        int  // the slot that the client believes it holds; 0 is none
	dead        bool
	halfOpen    bool // the client is dead, and the broker still has its connection
	interrupted bool // the connection is lost, and the client does not know
}

// unnumbered is the value of column.held for a held slot whose number is not known.
const unnumbered = -1

// tell makes the timeline of an execution.
func tell(t *scenario.Trace) *timeline {
	words := lock.WordsOf(t.Scenario.Target, t.Scenario.Server)
	s := &timeline{clients: t.Clients(), kind: t.History.Kind, server: words.Called(), unknown: len(t.Setup) == 0}
	for _, l := range t.Scenario.Locks {
		s.locks = append(s.locks, l.Name)
	}
	first := step{columns: make([]column, s.clients)}
	if n := len(t.Setup); n > 0 {
		first.observe(t, &t.Setup[n-1])
		s.steps = append(s.steps, first)
	}
	before := first
	for i := range t.Steps[:t.Shown()] {
		m := stepOf(t, i, before.columns, words)
		m.leap = m.time > before.time+1
		s.steps = append(s.steps, m)
		before = m
	}
	for _, v := range t.Violations {
		s.mark(v)
		s.decide(v, Decision(t, v))
	}
	s.chooseClients()
	return s
}

// chooseClients selects the clients that have a column in the picture.
func (s *timeline) chooseClients() {
	for client := 1; client <= s.clients; client++ {
		acts := func(m step) bool {
			return m.actor == client || slices.ContainsFunc(m.calls, func(c call) bool { return c.client == client })
		}
		if slices.ContainsFunc(s.steps, acts) {
			s.drawn = append(s.drawn, client)
		}
	}
}

// mark adds a violation to the step that shows it. A violation at the end of the execution gets an extra last line.
func (s *timeline) mark(v scenario.Violation) {
	i := slices.IndexFunc(s.steps, func(m step) bool { return m.number == v.Step+1 })
	if i < 0 {
		end := s.last()
		s.steps = append(s.steps, step{said: "when all is over", number: v.Step + 1, time: end.time, columns: end.columns, truth: end.truth})
		i = len(s.steps) - 1
	}
	s.steps[i].broken = append(s.steps[i].broken, v)
}

// decide adds a violation to the step that made it unavoidable; step 0 means that none did.
func (s *timeline) decide(v scenario.Violation, step int) {
	for i := range s.steps {
		if m := &s.steps[i]; step > 0 && m.number == step {
			m.decides = append(m.decides, v)
		}
	}
}

// marked reports whether the step decided or shows a violation.
func (m *step) marked() bool { return len(m.broken) > 0 || len(m.decides) > 0 }

func (s *timeline) last() step {
	if len(s.steps) == 0 {
		return step{columns: make([]column, s.clients), truth: make([]monitor.Truth, len(s.locks))}
	}
	return s.steps[len(s.steps)-1]
}

func stepOf(t *scenario.Trace, i int, before []column, words lock.Words) step {
	taken := &t.Steps[i]
	a := taken.Action
	m := step{
		number: i + 1, time: taken.Time, actor: int(a.Client), columns: slices.Clone(before),
		said: actionWords(a, words), fault: a.Kind != scenario.Step && a.Kind != scenario.Choose && a.Kind != scenario.Audit, noticeEnds: a.Kind.Global(),
	}
	if taken.Command != "" {
		m.command, m.reply = command(taken), style.Printable(taken.Reply)
	}
	m.act(a, &taken.Exchange)
	for i, e := range t.History.Events[taken.First : taken.First+taken.Events] {
		m.see(e, t)
		m.lose(e)
		if said := t.Errors[taken.First+i]; said != "" {
			m.errors = append(m.errors, errorWords(t, e, said))
		}
	}
	m.observe(t, taken)
	return m
}

// act updates the state of the clients for the step's action, such as a crash or a lost connection.
func (m *step) act(a scenario.Action, x *backend.Exchange) {
	if a.Kind == scenario.Restart {
		for i := range m.columns {
			m.columns[i].interrupted = !m.columns[i].dead
			m.columns[i].halfOpen = false
		}
		return
	}
	if a.Client == 0 || int(a.Client) > len(m.columns) {
		return
	}
	l := &m.columns[a.Client-1]
	switch {
	case a.Kind.Crash():
		*l, m.exit = column{dead: true, halfOpen: a.Late}, died
	case a.Kind == scenario.Detect:
		l.halfOpen, m.exit = false, noticed
	case a.Kind == scenario.Drop:
		l.interrupted = true
	case a.Kind == scenario.Arrive && l.interrupted:
		l.interrupted, m.said = false, fmt.Sprintf("c%d is told that its connection is gone", a.Client)
	case x.Result == backend.Ended || a.Kind == scenario.Lose:
		l.interrupted, l.held = false, 0
	}
}

// see handles an event of the history: it adds the call or the answer to the step, and updates what the client
// believes.
func (m *step) see(e history.Event, t *scenario.Trace) {
	if e.Process < 1 || len(m.columns) == 0 {
		return
	}
	client := clientOf(e, len(m.columns))
	if e.Type == history.Invoke {
		m.calls = append(m.calls, call{client: client, begin: invocationWords(e, t.History.Kind)})
	} else {
		m.end(client, completionWords(e, t.History.Kind))
	}
	if l := &m.columns[client-1]; !l.dead {
		l.believe(e, t.History.Kind)
	}
}

// lose handles an event in which a client reports that it has lost the lock.
func (m *step) lose(e history.Event) {
	if e.F != history.Lost || e.Target < 1 || len(m.columns) == 0 {
		return
	}
	client := history.ClientOf(e.Target, len(m.columns))
	m.columns[client-1].held = 0
	m.said = strings.TrimPrefix(fmt.Sprintf("%s; c%d tells that it has lost the lock", m.said, client), "; ")
}

// clientOf is the number of the client of an event. A client with a new connection has a new process number, which is
// larger by the number of clients.
func clientOf(e history.Event, clients int) int { return history.ClientOf(e.Process, clients) }

// end adds the answer to the client's call. If the call began in an earlier step, it adds an entry for the answer
// alone.
func (m *step) end(client int, words string) {
	if n := len(m.calls); n > 0 && m.calls[n-1].client == client && m.calls[n-1].end == "" {
		m.calls[n-1].end = words
		return
	}
	m.calls = append(m.calls, call{client: client, end: words})
}

// believe updates which slot the client believes it holds. The belief ends as soon as the client calls a release.
func (l *column) believe(e history.Event, kind lock.Kind) {
	l.calling = e.Type == history.Invoke
	switch op := e.F.Op(); {
	case l.calling && op != lock.Release:
	case e.Type == history.OK && e.Held && (e.Slot == history.AnySlot || kind != lock.Semaphore):
		l.held = unnumbered
	case e.Type == history.OK && e.Held:
		l.held = int(e.Slot)
	case op == lock.Release, e.Type == history.OK && op.AsksHeld(), e.Reason == lock.Disconnected, e.Reason == lock.TimedOut:
		l.held = 0
	}
}

// observe copies the broker's state after the step.
func (m *step) observe(t *scenario.Trace, taken *scenario.TraceStep) {
	for i := range t.Scenario.Locks {
		t := taken.Truth[i]
		t.Barrier = 0 // barriers are not drawn
		m.truth = append(m.truth, t)
	}
}
