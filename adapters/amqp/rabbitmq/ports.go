package rabbitmq

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

// The range of ports for nodes, below the ports that systems use for outgoing connections.
const (
	firstPort    = 20000
	portBlocks   = 4000
	portsInBlock = 3
)

var portBlock atomic.Int64

// FreePorts returns the first of several consecutive ports on which nothing listens. A broker opens its ports only
// seconds later. The search therefore starts at a place that depends on the process number, so that two processes do
// not choose the same ports.
func FreePorts() (first int, err error) {
	for range 100 {
		block := (os.Getpid() + 997*int(portBlock.Add(1))) % portBlocks
		first := firstPort + portsInBlock*block
		if areFree(first) {
			return first, nil
		}
	}
	return 0, fmt.Errorf("finding ports on 127.0.0.1: none of a hundred choices from %d up is free", firstPort)
}

func areFree(first int) bool {
	for port := first; port < first+portsInBlock; port++ {
		l, err := net.Listen("tcp", loopback(port))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
