package queue

import (
	"bytes"
	"strconv"

	"github.com/lockproof/lockproof/adapters/bound"
)

// Bounds on lengths that a server announces. The NATS driver allocates memory for a message before it arrives. NATS
// servers accept messages of up to 64 MB.
const (
	maxMessage  = 64 << 20
	maxNATSLine = 1 << 20 // maximum bytes of the line before a message, or of the server's greeting
)

// tlsHandshake is the first byte of a TLS record. No line of the NATS protocol begins with it.
const tlsHandshake = 0x16

// messages follows the lines and messages that a NATS server sends, to check the announced lengths.
type messages struct {
	address string
	line    []byte // the part of a line that was received so far
	rest    int    // number of bytes that are left of a message and its line end
	veiled  bool   // TLS has begun, so that lengths can no longer be read
}

func (m *messages) follow(p []byte) error {
	for len(p) > 0 && !m.veiled {
		if m.veiled = m.rest == 0 && len(m.line) == 0 && p[0] == tlsHandshake; m.veiled {
			return nil
		}
		if m.rest > 0 {
			n := min(m.rest, len(p))
			m.rest, p = m.rest-n, p[n:]
			continue
		}
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			end = len(p)
		}
		if len(m.line)+end > maxNATSLine {
			return bound.Exceeded(m.address, "sent a line of more than %d bytes", maxNATSLine)
		}
		m.line, p = append(m.line, p[:end]...), p[end:]
		if m.line[len(m.line)-1] != '\n' {
			return nil
		}
		fields := bytes.Fields(m.line)
		m.line = m.line[:0]
		if len(fields) == 0 || !bytes.EqualFold(fields[0], []byte("MSG")) && !bytes.EqualFold(fields[0], []byte("HMSG")) {
			continue
		}
		n, err := strconv.Atoi(string(fields[len(fields)-1])) // the total length of headers and message
		if err != nil || n < 0 || n > maxMessage {
			return bound.Exceeded(m.address, "announced a message of %.30s bytes: expected at most %d", fields[len(fields)-1], maxMessage)
		}
		m.rest = n + len("\r\n")
	}
	return nil
}
