package sql

import (
	"fmt"
	"strings"
)

// Text is the command's SQL text for a server. lock is the value of the column lock_key. Times are in microseconds
// since 1970.
func (c *Command) Text(d Dialect, lock int) string { return c.TextAmong(d, lock, 0) }

// TextAmong is [Command.Text] with tokens added to the command's token. It keeps clients apart that share a lock, but
// would otherwise use the same tokens.
func (c *Command) TextAmong(d Dialect, lock, tokens int) string {
	return (&writer{c, d, lock, tokens}).text()
}

// writer writes the SQL text of one command.
type writer struct {
	*Command
	dialect      Dialect
	lock, tokens int
}

// token is the value of the column token on the server.
func (c *writer) token() int { return int(c.Token) + c.tokens }

// num is the value of the column num on the server. In the table Leases it is the token.
func (c *writer) num() int {
	if c.Table == Leases {
		return int(c.Num) + c.tokens
	}
	return int(c.Num) + c.Table.Shift(c.dialect)
}

func (c *writer) text() string {
	switch c.Verb {
	case Open:
		level := strings.ToUpper(strings.ReplaceAll(c.Level.String(), "-", " "))
		if c.dialect == Postgres {
			return "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " + level
		}
		return "SET SESSION TRANSACTION ISOLATION LEVEL " + level
	case Begin:
		return "START TRANSACTION"
	case Commit:
		return "COMMIT"
	case Rollback:
		return "ROLLBACK"
	case Select:
		return c.query()
	case Count:
		return "SELECT COUNT(*) FROM " + c.Table.String() + c.where()
	case Insert:
		return c.insert()
	case Update:
		return "UPDATE " + c.Table.String() + c.set() + c.where()
	case Claim:
		found := *c.Command
		found.First = true
		inner := writer{&found, c.dialect, c.lock, c.tokens}
		return fmt.Sprintf("UPDATE %s%s WHERE lock_key = %d AND num = (%s)", c.Table, c.set(), c.lock, inner.query())
	case Delete:
		return "DELETE FROM " + c.Table.String() + c.where()
	}
	return ""
}

func (c *writer) query() string {
	q := "SELECT num FROM " + c.Table.String() + c.where() + " ORDER BY num"
	if c.First {
		q += " LIMIT 1"
	}
	return q + [...]string{"", " FOR UPDATE", " FOR UPDATE NOWAIT", " FOR UPDATE SKIP LOCKED"}[c.Read]
}

func (c *writer) insert() string {
	ignore, conflict := "", ""
	if c.Ignore && c.dialect == MariaDB {
		ignore = "IGNORE "
	} else if c.Ignore {
		conflict = " ON CONFLICT DO NOTHING"
	}
	token, until := "NULL", "NULL"
	if c.Token > 0 {
		token, until = fmt.Sprint(c.token()), c.end()
	}
	return fmt.Sprintf("INSERT %sINTO %s VALUES (%d, %d, %s, %s)%s", ignore, c.Table, c.lock, c.num(), token, until, conflict)
}

func (c *writer) set() string {
	switch c.Set {
	case Grant:
		return fmt.Sprintf(" SET token = %d, until = %s", c.token(), c.end())
	case Renew:
		return " SET until = " + c.end()
	}
	return " SET token = NULL, until = NULL"
}

func (c *writer) where() string {
	w := fmt.Sprintf(" WHERE lock_key = %d", c.lock)
	switch c.Rows {
	case One:
		w += fmt.Sprintf(" AND num = %d", c.num())
	case Below:
		w += fmt.Sprintf(" AND num < %d", c.num())
	}
	switch c.If {
	case Owned:
		w += fmt.Sprintf(" AND token = %d", c.token())
	case Expired:
		w += " AND until < " + c.now()
	case Free:
		w += " AND (token IS NULL OR until < " + c.now() + ")"
	case Live:
		w += " AND until >= " + c.now()
	case Kept:
		w += fmt.Sprintf(" AND token = %d AND until >= %s", c.token(), c.now())
	}
	return w
}

// end is the SQL expression of the end of a granted lease.
func (c *writer) end() string { return fmt.Sprintf("%s + %d", c.now(), c.Lease) }

// now is the SQL expression of the present time by the command's clock.
func (c *writer) now() string {
	var clock string
	switch {
	case c.Clock == GivenTime:
		return fmt.Sprint(c.Time)
	case c.dialect == MariaDB && c.Clock == SystemTime:
		clock = "SYSDATE(6)"
	case c.dialect == MariaDB:
		clock = "NOW(6)"
	default:
		clock = [...]string{StatementTime: "statement_timestamp()", TransactionTime: "now()", SystemTime: "clock_timestamp()"}[c.Clock]
	}
	return Micros(c.dialect, clock)
}

// Micros is the SQL expression of a clock's time in microseconds since 1970.
func Micros(d Dialect, clock string) string {
	if d == MariaDB {
		return "CAST(UNIX_TIMESTAMP(" + clock + ") * 1000000 AS SIGNED)"
	}
	return "(extract(epoch FROM " + clock + ") * 1000000)::bigint"
}

// Schema are the SQL statements that create the tables.
func Schema(d Dialect) (all []string) {
	for t := range Tables {
		num := "INT"
		if t == Narrow {
			num = [...]string{MariaDB: "TINYINT", Postgres: "SMALLINT"}[d]
		}
		s := fmt.Sprintf("CREATE TABLE %s (lock_key INT NOT NULL, num %s NOT NULL, token INT NULL, until BIGINT NULL, PRIMARY KEY (lock_key, num))", t, num)
		if d == MariaDB {
			s += " ENGINE=InnoDB"
		}
		all = append(all, s)
	}
	return all
}
