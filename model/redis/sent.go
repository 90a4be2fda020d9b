package redis

// Sent is a command and the reply, as a trace keeps them: where a client opens a connection, Opens and nothing else. A
// reply of class None is that of a command that never reached the server.
type Sent struct {
	Opens   bool
	Server  int // from 0
	Command Command
	Reply   Reply
}
