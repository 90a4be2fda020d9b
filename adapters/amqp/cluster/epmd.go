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

// Requests and answers of epmd's protocol, with which an Erlang node registers its port and looks up those of others.
const (
	aliveRequest  = 'x'
	portRequest   = 'z'
	namesRequest  = 'n'
	aliveAnswer   = 'y' // for nodes before Erlang 23
	aliveAnswerX  = 'v'
	portAnswer    = 'w'
	aliveVersionX = 6   // version from which a node expects the longer answer
	maxEpmdBytes  = 600 // of a request: a node's name has at most 255
)

// epmd is the port mapper of one node. If the node asks for another node, it answers with the port of the link to that node.
type epmd struct {
	acceptor *acceptor.Acceptor
	peers    map[string]int // by name: the port that it is told for it

	mu       sync.Mutex
	own      map[string]registered // the node, and those that it starts for a while, by name
	creation uint32                // of the last one
}

// registered is a node that listens at a port. Its creation distinguishes it from an earlier node with its name.
type registered struct {
	port     int
	creation uint32
}

// serveEpmd starts the port mapper of one node. The peers are set before the node starts.
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

// readEpmd reads one request: its length, its kind, and the rest.
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

// alive is what a node declares when it registers.
type alive struct {
	port    uint16
	version uint16 // the highest version of the protocol that it supports
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
		return // it belongs to another epmd
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
	if e.own[a.name].creation == creation { // not replaced by a new registration
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
	return append(answer, 0, 0) // nothing extra
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
