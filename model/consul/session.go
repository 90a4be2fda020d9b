package consul

// Session is a session, with which keys are acquired. It ends when it is destroyed, when the node's health check
// fails, or when it has not been renewed for too long.
type Session struct {
	ID string
	// Deletes says that the session's keys are deleted when it ends (behaviour "delete"); otherwise they are
	// released.
	Deletes bool
	// TTL is the shortest lifetime without a renewal, in milliseconds; 0 is forever. The server ends the session
	// after twice that time (FACTS K2).
	TTL int64
	// Delay is the time, in milliseconds, for which no other session can acquire the keys of an invalidated session
	// (FACTS K3).
	Delay int64
}
