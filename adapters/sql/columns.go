package databases

import (
	"context"
	"encoding/binary"
	"net"

	"github.com/lockproof/lockproof/adapters/bound"
	model "github.com/lockproof/lockproof/model/sql"
)

// maxColumns is how many columns a result of MariaDB may have: the driver makes room for as many as are announced. MariaDB's
// tables have at most 4096.
const maxColumns = 1 << 16

// bounded has a dialect's connections announce no more than they may.
func bounded(d model.Dialect, dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	if d == model.Postgres { // whose columns are counted in two bytes
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

// packets follows the packets of a MariaDB.
type packets struct {
	address string
	head    []byte // the received part of a packet's header, and up to so many bytes of the packet
	size    int    // of the packet
	rest    int    // bytes of it that are still to come
	open    bool   // it has accepted us: until then, packets are no results
}

// headMost is a header and the number of columns.
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
			return nil // it goes on with the next bytes
		}
		if err := k.packet(k.head[4:]); err != nil {
			return err
		}
		k.head = k.head[:0]
	}
	return nil
}

// packet takes a whole packet's beginning. One that has nothing but a number, written in eight bytes or in three, is a number of columns.
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
