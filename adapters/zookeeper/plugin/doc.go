// Package plugin puts ZooKeeper behind the gate. It implements the server that package gate defines: external clients send
// requests, one at a time, to a ZooKeeper that lockproof starts. Pings pass the gate without waiting. The server sends
// events of watches without a request.
//
// ZooKeeper keeps the machine's clock. By this clock its sessions last an hour; clients are told the timeout that a stock
// server would have granted. A session ends when the schedule has let the timeout pass since the server's last reply to its
// client. The plug-in then closes the session, by its number and password, as the server itself would.
//
//	server.go     the server: its nodes, and what a run may leave there
//	instance.go   the process, its connections, and when it is at rest
//	control.go    a client of our own
//	sessions.go   the sessions of clients, and when they end
//	session.go    a connection: finds the ends of requests and replies
//	jute.go       numbers and texts as ZooKeeper writes them
//	words.go      requests and replies: what they do, and how traces show them
package plugin
