package databases

import (
	"context"
	"encoding/binary"
	"net"

	"github.com/lockproof/lockproof/adapters/bound"
	model "github.com/lockproof/lockproof/model/sql"
)

// maxColumns is the maximum number of columns of a result: the driver allocates memory for as many columns as MariaDB
// announces. MariaDB's tables have at most 4096.
const maxColumns = 1 << 16

// bounded returns dial with a check that results announce at most maxColumns columns.
func bounded(d model.Dialect, dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	if d == model.Postgres { // PostgreSQL's number of columns has only two bytes
		return dial
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return bound.Followed(conn, (&packets{address: address}).follow), nil
	}
}

// packets splits what a MariaDB server sends into packets.
type packets struct {
	address string
	head    []byte // header of the current packet and beginning of its body, as far as received
	size    int    // length of the current packet's body in bytes
	rest    int    // number of bytes of the body still to come
	open    bool   // the server has accepted the connection; earlier packets are not results
}

// headMost is the length of a header and of the longest packet that announces columns.
const headMost = 4 + 9

func (k *packets) follow(p []byte) error {
	for len(p) > 0 {
		if len(k.head) < 4 {
			n := min(4-len(k.head), len(p))
			k.head, p = append(k.head, p[:n]...), p[n:]
			if len(k.head) == 4 {
				k.size = int(k.head[0]) | int(k.head[1])<<8 | int(k.head[2])<<16
				k.rest = k.size
			}
		}
		n := min(k.rest, len(p))
		k.head = append(k.head, p[:min(n, headMost-len(k.head))]...)
		k.rest, p = k.rest-n, p[n:]
		if len(k.head) < 4 || k.rest > 0 {
			return nil // the packet continues in the next bytes
		}
		if err := k.packet(k.head[4:]); err != nil {
			return err
		}
		k.head = k.head[:0]
	}
	return nil
}

// packet checks the beginning of a complete packet. A packet that contains only a number, of eight or of three bytes,
// announces that number of columns.
func (k *packets) packet(data []byte) error {
	switch {
	case len(data) == 0:
	case data[0] == 0:
		k.open = true
	case k.open && (k.size == 9 && data[0] == 0xfe || k.size == 4 && data[0] == 0xfd):
		var number [8]byte
		copy(number[:], data[1:])
		if n := binary.LittleEndian.Uint64(number[:]); n > maxColumns {
			return bound.Exceeded(k.address, "announced %d columns: expected at most %d", n, maxColumns)
		}
	}
	return nil
}
