package redis

// Sent is a command and the reply, as a trace keeps them. If a client opens a connection, only Opens is set. A reply
// of class None says that the command never reached the server.
type Sent struct {
	Opens   bool
	Server  int // counted from 0
	Command Command
	Reply   Reply
}
