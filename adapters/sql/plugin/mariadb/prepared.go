package mariadb

import (
	"fmt"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/sql/plugin/statement"
)

// prepared is a prepared statement of a connection.
type prepared struct {
	statement statement.Statement
	params    int
	types     []byte // types of the parameters, as the client sent them last
	columns   []byte // types of the result's columns, as the server sent them last
}

const (
	mostPrepared = 1 << 10 // maximum number of prepared statements of a connection
	lastPrepared = 1<<32 - 1
)

// prepare handles the server's reply that p is prepared.
func (s *session) prepare(body []byte, p *prepared) error {
	f := fields{rest: body[1:]}
	id := uint32(f.number(4))
	f.take(2)
	p.params = int(f.number(2))
	s.last, s.prepared[id] = p, p
	if len(s.prepared) > mostPrepared {
		return fmt.Errorf("%w: more than %d prepared statements", gate.ErrExcess, mostPrepared)
	}
	return nil
}

// execute reads which prepared statement a command carries out, and the values of its parameters.
func (s *session) execute(body []byte) (p *prepared, values []string, err error) {
	f := fields{rest: body[1:]}
	id := uint32(f.number(4))
	p = s.prepared[id]
	if id == lastPrepared {
		p = s.last
	}
	if p == nil { // the server will report the error
		return &prepared{statement: statement.Read("EXECUTE", statement.MariaDB)}, nil, nil
	}
	if body[0] == comBulk || p.params == 0 {
		return p, nil, nil
	}
	f.take(1 + 4)
	nulls := f.take((p.params + 7) / 8)
	if f.number(1) == 1 {
		p.types = nil
		for range min(p.params, len(f.rest)/2) {
			p.types = append(p.types, f.take(2)[0])
		}
	}
	for i, kind := range p.types[:min(len(p.types), statement.MostValues)] {
		values = append(values, f.orNull(nulls, i, kind))
	}
	if f.short {
		err = fmt.Errorf("%w: the values of a prepared statement are cut off", errProtocol)
	}
	return p, values, err
}

// orNull reads a value in binary form, of the given type. If its bit in nulls is set, the value is NULL.
func (f *fields) orNull(nulls []byte, bit int, kind byte) string {
	if bit/8 < len(nulls) && nulls[bit/8]&(1<<(bit%8)) != 0 {
		return statement.Null
	}
	return f.binary(kind)
}
