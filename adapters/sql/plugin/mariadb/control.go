package mariadb

import (
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/lockproof/lockproof/adapters/sql/plugin"
)

// can are the capability flags of lockproof's own connection: the current protocol, and authentication with
// mysql_native_password, which every server supports.
const can = 1<<0 | 1<<9 | 1<<15 | 1<<19

// greet authenticates lockproof's own connection, as the administrator.
func greet(c *plugin.Control) error {
	b, err := read(c)
	if err != nil {
		return err
	}
	if b[0] == isError {
		return refusal(b)
	}
	f := fields{rest: b[1:]}
	f.zero()
	f.take(4)
	salt := append([]byte(nil), f.take(8)...)
	f.take(1 + 2 + 1 + 2 + 2 + 1 + 10)
	salt = append(salt, f.zero()...)
	body := binary.LittleEndian.AppendUint32(nil, can)
	body = binary.LittleEndian.AppendUint32(body, longest)
	body = append(body, make([]byte, 1+23)...)
	body[8] = 45 // character set utf8mb4
	body = append(body, administrator+"\x00\x14"...)
	body = append(body, scramble(password, salt)...)
	body = append(body, "mysql_native_password\x00"...)
	if err := write(c, 1, body); err != nil {
		return err
	}
	if b, err = read(c); err == nil && b[0] != isOK {
		err = refusal(b)
	}
	return err
}

// scramble hashes a password with the server's salt, to prove that lockproof knows the password.
func scramble(password string, salt []byte) []byte {
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	with := sha1.Sum(append(salt, twice[:]...))
	for i := range with {
		with[i] ^= once[i]
	}
	return with[:]
}

// errRefused is the error if a server refuses something.
var errRefused = errors.New("our MariaDB server refuses it")

// refusal returns the error that an error packet contains.
func refusal(b []byte) error {
	return fmt.Errorf("%w: %q (%d)", errRefused, b[min(len(b), 3):], failure(b))
}

// write writes a packet. number is its sequence number.
func write(c *plugin.Control, number byte, body []byte) error {
	head := []byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), number}
	_, err := c.Conn.Write(append(head, body...))
	return err
}

// read reads a packet. An empty packet is an error.
func read(c *plugin.Control) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.Reader, head[:]); err != nil {
		return nil, err
	}
	body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	if len(body) == 0 {
		return nil, errProtocol
	}
	_, err := io.ReadFull(c.Reader, body)
	return body, err
}

// ask sends a statement to the server.
func ask(c *plugin.Control, sql string) error { return write(c, 0, append([]byte{comQuery}, sql...)) }

// readRows reads the packets of a result, and returns its rows.
func readRows(c *plugin.Control) (rows [][]string, err error) {
	for ends := 0; ; {
		b, err := read(c)
		switch {
		case err != nil:
			return nil, err
		case b[0] == isError:
			return nil, refusal(b)
		case b[0] == isOK && ends == 0:
			return nil, nil
		case b[0] == isEOF && len(b) < shortEOF:
			if ends++; ends == 2 { // the first ends the columns, the second ends the rows
				return rows, nil
			}
		case ends == 1:
			f := fields{rest: b, most: longest}
			rows = append(rows, f.row())
		}
	}
}
