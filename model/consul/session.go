package consul

// Session is a Consul session, with which a client acquires keys. It ends when a client destroys it, when the node's
// health check fails, or when it was not renewed in time.
type Session struct {
	ID string
	// Deletes says that the end of the session deletes its keys (Consul's behaviour "delete"). Otherwise it releases
	// them.
	Deletes bool
	// TTL is the shortest lifetime of the session without a renewal, in milliseconds; 0 is no limit. The server ends
	// the session after twice that time (FACTS K2).
	TTL int64
	// Delay is the time in milliseconds after an invalidated session's end during which no other session can acquire
	// its keys (FACTS K3).
	Delay int64
}
