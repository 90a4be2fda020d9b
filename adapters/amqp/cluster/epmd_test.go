//go:build unix

package cluster

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/waittest"
)

// asked sends a request to an epmd and returns its answer. The connection stays open until the test ends.
func asked(t *testing.T, e *epmd, request []byte) (net.Conn, []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", e.port()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(request))), request...)
	if _, err := conn.Write(framed); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 100)
	n, _ := conn.Read(answer)
	return conn, answer[:n]
}

// registering is a request to register a node of the given name, port and highest protocol version.
func registering(name string, port, version uint16) []byte {
	b := binary.BigEndian.AppendUint16([]byte{aliveRequest}, port)
	b = binary.BigEndian.AppendUint16(append(b, 77, 0), version)
	b = binary.BigEndian.AppendUint16(b, 5)
	b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
	return append(append(b, name...), 0, 0)
}

// Asked for another node, the port mapper answers with the port of the link to it. Asked for its own node, it answers
// with that node's port, as long as the node is registered.
func TestEpmd(t *testing.T) {
	e, err := serveEpmd(map[string]int{"lp2": 4711})
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	port := func(name string) int {
		_, answer := asked(t, e, append([]byte{portRequest}, name...))
		if len(answer) < 4 || answer[0] != portAnswer || answer[1] != 0 {
			return 0
		}
		return int(binary.BigEndian.Uint16(answer[2:]))
	}
	if got := port("lp2"); got != 4711 {
		t.Errorf("the other node is at %d", got)
	}
	if got := port("lp1"); got != 0 {
		t.Errorf("a node that is not registered is at %d", got)
	}
	node, answer := asked(t, e, registering("lp1", 4000, 6))
	if len(answer) != 6 || answer[0] != aliveAnswerX || answer[1] != 0 {
		t.Errorf("registered with %v", answer)
	}
	if got := port("lp1"); got != 4000 {
		t.Errorf("a registered node is at %d", got)
	}
	if _, names := asked(t, e, []byte{namesRequest}); !strings.Contains(string(names), "name lp1 at port 4000\n") {
		t.Errorf("names: %q", names)
	}
	helper, _ := asked(t, e, registering("lp1-7-5772", 4001, 6)) // RabbitMQ 4 starts short-lived nodes with such names
	if got := port("lp1"); got != 4000 || port("lp1-7-5772") != 4001 {
		t.Errorf("beside a node that it started for a while, a node is at %d", got)
	}
	_ = helper.Close()
	_ = node.Close()
	waittest.Until(t, "the node is no more registered", func() bool { return port("lp1") == 0 })
	if _, answer := asked(t, e, registering("lp1", 4000, 5)); len(answer) != 4 || answer[0] != aliveAnswer {
		t.Errorf("an old node is registered with %v", answer)
	}
}

// The port mapper closes the connection after a malformed request, and continues to serve others.
func TestEpmdRefuses(t *testing.T) {
	e, err := serveEpmd(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	for _, request := range [][]byte{{aliveRequest}, registering("lp1", 1, 6)[:9], append(registering("lp1", 1, 6)[:10], 255, 255), {'?'}, {}, make([]byte, 700)} {
		if _, answer := asked(t, e, request); len(answer) > 0 {
			t.Errorf("%v: answered %v", request, answer)
		}
	}
	if _, answer := asked(t, e, []byte{namesRequest}); len(answer) != 4 {
		t.Errorf("names: %v", answer)
	}
}
