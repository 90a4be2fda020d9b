package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"

	"github.com/lockproof/lockproof/adapters/acceptor"
)

// These are the first bytes of requests and answers of epmd, the Erlang port mapper. An Erlang node uses it to register
// its own port and to look up the ports of other nodes.
const (
	aliveRequest  = 'x'
	portRequest   = 'z'
	namesRequest  = 'n'
	aliveAnswer   = 'y' // for nodes before Erlang 23, with a creation of 2 bytes
	aliveAnswerX  = 'v'
	portAnswer    = 'w'
	aliveVersionX = 6   // protocol version from which a node expects aliveAnswerX, with a creation of 4 bytes
	maxEpmdBytes  = 600 // maximum size of a request; a node's name has at most 255
)

// epmd is a port mapper that serves one node. For the name of another node it answers with the port of the link to that
// node.
type epmd struct {
	acceptor *acceptor.Acceptor
	peers    map[string]int // by name of the other node: the port of the link to it

	mu       sync.Mutex
	own      map[string]registered // by name: the node, and short-lived nodes that it starts
	creation uint32                // creation of the latest registration
}

// registered is the port of a registered node. The creation distinguishes this node from an earlier one of the same
// name.
type registered struct {
	port     int
	creation uint32
}

// serveEpmd starts the port mapper of one node. The caller must fill peers before the node starts.
func serveEpmd(peers map[string]int) (*epmd, error) {
	a, err := acceptor.Listen()
	if err != nil {
		return nil, err
	}
	e := &epmd{acceptor: a, peers: peers, own: make(map[string]registered)}
	a.Serve(e.answer)
	return e, nil
}

func (e *epmd) port() int { return e.acceptor.Addr().Port }

// answer serves one connection. A node is registered as long as its connection lasts.
func (e *epmd) answer(conn net.Conn) {
	request, err := readEpmd(conn)
	if err != nil {
		return
	}
	switch request[0] {
	case aliveRequest:
		e.register(conn, request[1:])
	case portRequest:
		_, _ = conn.Write(e.lookUp(string(request[1:])))
	case namesRequest:
		_, _ = conn.Write(e.names())
	}
}

// readEpmd reads one request and strips its length. The first byte of the result is the kind of request.
func readEpmd(in io.Reader) ([]byte, error) {
	var length uint16
	if err := binary.Read(in, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	if length == 0 || length > maxEpmdBytes {
		return nil, fmt.Errorf("an epmd request of %d bytes: expected 1 to %d", length, maxEpmdBytes)
	}
	request := make([]byte, length)
	_, err := io.ReadFull(in, request)
	return request, err
}

// alive is the content of a node's request to register.
type alive struct {
	port    uint16
	version uint16 // the highest protocol version that the node supports
	name    string
}

func parseAlive(request []byte) (a alive, err error) {
	const fixed = 10 // port, kind, protocol, two versions, length of the name
	if len(request) < fixed {
		return a, errors.New("a node registers without its name")
	}
	a.port = binary.BigEndian.Uint16(request)
	a.version = binary.BigEndian.Uint16(request[4:])
	length := int(binary.BigEndian.Uint16(request[8:]))
	if len(request) < fixed+length {
		return a, errors.New("a node's name is cut off")
	}
	a.name = string(request[fixed : fixed+length])
	return a, nil
}

// register registers a node until its connection ends.
func (e *epmd) register(conn net.Conn, request []byte) {
	a, err := parseAlive(request)
	if err != nil {
		return
	}
	if _, peer := e.peers[a.name]; peer {
		return // the name of another node, which has its own epmd
	}
	e.mu.Lock()
	e.creation++
	creation := e.creation
	e.own[a.name] = registered{int(a.port), creation}
	e.mu.Unlock()
	answer := []byte{aliveAnswer, 0}
	if a.version >= aliveVersionX {
		answer = binary.BigEndian.AppendUint32([]byte{aliveAnswerX, 0}, creation)
	} else {
		answer = binary.BigEndian.AppendUint16(answer, uint16(creation))
	}
	if _, err := conn.Write(answer); err == nil {
		_, _ = io.Copy(io.Discard, conn)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.own[a.name].creation == creation { // false if the name was registered again meanwhile
		delete(e.own, a.name)
	}
}

// lookUp is the answer to a request for a node's port.
func (e *epmd) lookUp(name string) []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	port, known := e.peers[name]
	if own, is := e.own[name]; is {
		port, known = own.port, true
	}
	if !known {
		return []byte{portAnswer, 1}
	}
	const node, tcp, highest, lowest = 77, 0, 6, 5
	answer := binary.BigEndian.AppendUint16([]byte{portAnswer, 0}, uint16(port))
	answer = append(answer, node, tcp, 0, highest, 0, lowest)
	answer = binary.BigEndian.AppendUint16(answer, uint16(len(name)))
	answer = append(answer, name...)
	return append(answer, 0, 0) // the length of the extra field: 0
}

// names is the answer to a request for the registered nodes.
func (e *epmd) names() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	answer := binary.BigEndian.AppendUint32(nil, uint32(e.port()))
	for _, name := range slices.Sorted(maps.Keys(e.own)) {
		answer = fmt.Appendf(answer, "name %s at port %d\n", name, e.own[name].port)
	}
	return answer
}

func (e *epmd) close() { _ = e.acceptor.Close() }
