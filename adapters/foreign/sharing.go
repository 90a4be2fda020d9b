package foreign

import (
	"slices"
)

// Clients in one process may share a connection that the first of them has opened. All their commands then arrive at the
// first client's address. The sender of a command is the client that is at work, since only one is at a time.

// sender is the client that sent a command which arrived at the address of handle at. The caller must hold mu.
func (s *Runner) sender(at *clientHandle) *clientHandle {
	if s.open {
		s.inferHost(at)
	}
	var asleep *clientHandle
	for _, a := range s.everybody() {
		switch {
		case a.host != at || !a.calling || a.paused || len(a.parked) > 0:
		case a.asleep:
			asleep = a
		default:
			return a
		}
	}
	if asleep != nil {
		return asleep
	}
	return at
}

// inferHost detects that a client works on another client's connection: it has no connection, and is the only client in
// a call when a command arrives there. The caller must hold mu.
func (s *Runner) inferHost(at *clientHandle) {
	var called *clientHandle
	for _, a := range s.everybody() {
		if a.calling && called != nil {
			return
		}
		if a.calling {
			called = a
		}
	}
	switch {
	case called == at: // the client has its own connection after all
		at.host = at
	case called != nil && len(called.connections) == 0:
		called.host = at
	}
}

// Sharing reports whether clients share a connection. Scenarios then have no faults of single clients, as a fault would
// affect all.
func (s *Runner) Sharing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.handles, func(a *clientHandle) bool { return a.host != a })
}
