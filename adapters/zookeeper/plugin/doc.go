// Package plugin is ZooKeeper at the gate, as package gate wants a server: anybody's clients send requests to a ZooKeeper of our own,
// one at a time. Pings pass by themselves. What a watch tells comes unasked.
//
// A ZooKeeper takes no clock of ours. Its sessions last an hour by its own clock, and clients are told what a stock server would have
// granted them. A session ends when the schedule has let so much time pass since something of its client was heard last: the plug-in
// closes it, by its number and its password, as the server does itself.
//
//	server.go     the server: its nodes, and what a run may leave there
//	instance.go   the process, its connections, and when it has nothing more to say
//	control.go    a client of our own
//	sessions.go   the sessions of clients, and when they end
//	session.go    a connection: where requests and replies end
//	jute.go       numbers and texts as ZooKeeper writes them
//	words.go      requests and replies as traces have them, and what they do
package plugin
