package redis

// Sent is a command and its reply as the payload of a trace step. If a client opens a connection, only Opens is set.
// Class None of the reply means that the command did not reach the server.
type Sent struct {
	Opens   bool
	Server  int // index of the server, from 0
	Command Command
	Reply   Reply
}
