package sql

import (
	"fmt"
	"strings"
)

// Text is a command as its server takes it. Times are microseconds since 1970. Rows of the command's lock have lock in
// their column lock_key.
func (c *Command) Text(d Dialect, lock int) string {
	switch c.Verb {
	case Open:
		level := strings.ToUpper(strings.ReplaceAll(c.Level.String(), "-", " "))
		if d == Postgres {
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
		return c.query(d, lock)
	case Count:
		return "SELECT COUNT(*) FROM " + c.Table.String() + c.where(d, lock)
	case Insert:
		return c.insert(d, lock)
	case Update:
		return "UPDATE " + c.Table.String() + c.set(d) + c.where(d, lock)
	case Claim:
		found := *c
		found.First = true
		return fmt.Sprintf("UPDATE %s%s WHERE lock_key = %d AND num = (%s)", c.Table, c.set(d), lock, found.query(d, lock))
	case Delete:
		return "DELETE FROM " + c.Table.String() + c.where(d, lock)
	}
	return ""
}

func (c *Command) query(d Dialect, lock int) string {
	q := "SELECT num FROM " + c.Table.String() + c.where(d, lock) + " ORDER BY num"
	if c.First {
		q += " LIMIT 1"
	}
	return q + [...]string{"", " FOR UPDATE", " FOR UPDATE NOWAIT", " FOR UPDATE SKIP LOCKED"}[c.Read]
}

func (c *Command) insert(d Dialect, lock int) string {
	ignore, conflict := "", ""
	if c.Ignore && d == MariaDB {
		ignore = "IGNORE "
	} else if c.Ignore {
		conflict = " ON CONFLICT DO NOTHING"
	}
	token, until := "NULL", "NULL"
	if c.Token > 0 {
		token, until = fmt.Sprint(c.Token), c.end(d)
	}
	return fmt.Sprintf("INSERT %sINTO %s VALUES (%d, %d, %s, %s)%s", ignore, c.Table, lock, c.Num, token, until, conflict)
}

func (c *Command) set(d Dialect) string {
	switch c.Set {
	case Grant:
		return fmt.Sprintf(" SET token = %d, until = %s", c.Token, c.end(d))
	case Renew:
		return " SET until = " + c.end(d)
	}
	return " SET token = NULL, until = NULL"
}

func (c *Command) where(d Dialect, lock int) string {
	w := fmt.Sprintf(" WHERE lock_key = %d", lock)
	switch c.Rows {
	case One:
		w += fmt.Sprintf(" AND num = %d", c.Num)
	case Below:
		w += fmt.Sprintf(" AND num < %d", c.Num)
	}
	switch c.If {
	case Owned:
		w += fmt.Sprintf(" AND token = %d", c.Token)
	case Expired:
		w += " AND until < " + c.now(d)
	case Free:
		w += " AND (token IS NULL OR until < " + c.now(d) + ")"
	case Live:
		w += " AND until >= " + c.now(d)
	case Kept:
		w += fmt.Sprintf(" AND token = %d AND until >= %s", c.Token, c.now(d))
	}
	return w
}

// end is when a lease ends that is granted.
func (c *Command) end(d Dialect) string { return fmt.Sprintf("%s + %d", c.now(d), c.Lease) }

// now is the time by the command's clock.
func (c *Command) now(d Dialect) string {
	var clock string
	switch {
	case c.Clock == GivenTime:
		return fmt.Sprint(c.Time)
	case d == MariaDB && c.Clock == SystemTime:
		clock = "SYSDATE(6)"
	case d == MariaDB:
		clock = "NOW(6)"
	default:
		clock = [...]string{StatementTime: "statement_timestamp()", TransactionTime: "now()", SystemTime: "clock_timestamp()"}[c.Clock]
	}
	return Micros(d, clock)
}

// Micros is a time as microseconds since 1970.
func Micros(d Dialect, clock string) string {
	if d == MariaDB {
		return "CAST(UNIX_TIMESTAMP(" + clock + ") * 1000000 AS SIGNED)"
	}
	return "(extract(epoch FROM " + clock + ") * 1000000)::bigint"
}

// Schema are the statements that make the tables.
func Schema(d Dialect) (all []string) {
	for t := range Tables {
		s := fmt.Sprintf("CREATE TABLE %s (lock_key INT NOT NULL, num INT NOT NULL, token INT NULL, until BIGINT NULL, PRIMARY KEY (lock_key, num))", t)
		if d == MariaDB {
			s += " ENGINE=InnoDB"
		}
		all = append(all, s)
	}
	return all
}
