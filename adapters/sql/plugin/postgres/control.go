package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/lockproof/lockproof/adapters/sql/plugin"
)

// greet authenticates lockproof's own connection, as the administrator.
func greet(c *plugin.Control) error {
	body := binary.BigEndian.AppendUint32(nil, version3<<versionBits)
	for _, s := range []string{"user", superuser, "database", database, "search_path", "pg_catalog, public", ""} {
		body = append(append(body, s...), 0)
	}
	if _, err := c.Conn.Write(sized(nil, body)); err != nil {
		return err
	}
	_, err := readRows(c)
	return err
}

// sized appends body to b, preceded by its length.
func sized(b, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(body)+4)), body...)
}

// ask sends a statement to the server.
func ask(c *plugin.Control, sql string) error {
	_, err := c.Conn.Write(sized([]byte{'Q'}, append([]byte(sql), 0)))
	return err
}

// errPassword is the error if a server asks for a password in a way that is not supported.
var errPassword = errors.New("it asks for another kind of password")

// readRows reads messages until the server is ready for more.
func readRows(c *plugin.Control) (rows [][]string, failed error) {
	for {
		kind, body, err := read(c)
		if err != nil {
			return nil, errors.Join(failed, err)
		}
		switch kind {
		case 'R':
			f := fields{rest: body}
			if f.take(2); f.int16() == 3 {
				_, err = c.Conn.Write(sized([]byte{'p'}, append([]byte(password), 0)))
			} else if binary.BigEndian.Uint32(append(body, 0, 0, 0, 0)) != 0 {
				err = errPassword
			}
			if err != nil {
				return nil, err
			}
		case 'D':
			f := fields{rest: body}
			rows = append(rows, f.values())
		case 'E':
			failure := readFailure(body)
			failed = fmt.Errorf("%s (%s)", failure.message, failure.code)
		case 'Z':
			return rows, failed
		}
	}
}

// read reads one message from the server.
func read(c *plugin.Control) (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(c.Reader, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > longest {
		return 0, nil, errProtocol
	}
	body = make([]byte, size-4)
	_, err = io.ReadFull(c.Reader, body)
	return head[0], body, err
}
