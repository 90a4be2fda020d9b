package wire

import (
	"net"
	"sync"
	"time"
)

// listening maps addresses to the servers of this process that listen there.
var listening sync.Map

// dialLimit is the maximum time for connecting over the network.
const dialLimit = 30 * time.Second

// Dial connects to an address as net.Dial does. If a [Server] of this process listens there, the connection does not
// use the network, which makes it several times as fast.
func Dial(network, address string) (net.Conn, error) {
	if s, ok := listening.Load(address); ok {
		client, server := memoryPipe(memoryAddr{}, s.(*Server).Addr())
		s.(*Server).take(server)
		return client, nil
	}
	return net.DialTimeout(network, address, dialLimit)
}
