package history

import "github.com/lockproof/lockproof/model/lock"

// Answers counts the answers of a history's operations. The zero value is ready to use.
type Answers struct {
	Called   int // operations invoked
	Answered int // operations answered with ok or fail
	Acquires int // acquires among those invoked
	Telling  int // answers that show a holder: granted acquires, refused ones with a reason, verifies that say held
}

// Event counts an event, if it is an invocation or an answer.
func (a *Answers) Event(e *Event) {
	op := e.F.Op()
	switch {
	case e.Process == Nemesis:
	case e.Type == Invoke:
		a.Called++
		if op == lock.Acquire {
			a.Acquires++
		}
	case e.Type != Info:
		a.Answered++
		if op == lock.Acquire && (e.Type == OK && e.Held || e.Reason != lock.NoReason) || op.AsksHeld() && e.Held {
			a.Telling++
		}
	}
}

// Answers counts all events of a history.
func (h *History) Answers() (a Answers) {
	for i := range h.Events {
		a.Event(&h.Events[i])
	}
	return a
}

// Silence says why the answers do not tell who holds the lock; "" if some of them do.
func (a *Answers) Silence() string {
	switch {
	case a.Answered == 0:
		return "no operation was answered"
	case a.Acquires > 0 && a.Telling == 0:
		return "no acquire was granted, nor refused for a known reason"
	}
	return ""
}
