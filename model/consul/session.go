package consul

// Session is what keys are acquired by. It ends when it is destroyed, when the node's health check fails, or when it has
// not been renewed for long.
type Session struct {
	ID string
	// Deletes has the keys of the session be deleted when it ends, which is behaviour "delete"; else they are released.
	Deletes bool
	// TTL is the shortest lifetime without a renewal, in milliseconds; 0 is forever. The server ends the session
	// after twice that time (FACTS K2).
	TTL int64
	// Delay is how long no other session can acquire its keys after it was invalidated, in milliseconds (FACTS K3).
	Delay int64
}
