package rabbitmq

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

// Ports are taken from below those that systems give to outgoing connections.
const (
	firstPort    = 20000
	portBlocks   = 4000
	portsInBlock = 3
)

var portBlock atomic.Int64

// freePorts finds ports, in a row, that nothing on this machine listens on, and returns the first.
// A broker opens its ports seconds after they were found free, so blocks of ports are dealt by
// process number: two test binaries that start brokers at the same moment do not choose the same.
func freePorts() (first int, err error) {
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
