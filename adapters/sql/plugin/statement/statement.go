package statement

import (
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/backend"
)

// Statement is what a client has sent to be carried out at once: one statement, or several with semicolons between them.
type Statement struct {
	tokens []token
	cut    bool // it was too long to be kept whole
}

// longest is how much of a statement is kept.
const longest = 1 << 14

// Read reads a statement.
func Read(sql string, d Dialect) Statement {
	s := Statement{cut: len(sql) > longest}
	s.tokens = scan(sql[:min(len(sql), longest)], d)
	for len(s.tokens) > 0 && s.tokens[len(s.tokens)-1].is(";") {
		s.tokens = s.tokens[:len(s.tokens)-1]
	}
	return s
}

// Name is its first word in capitals, such as SELECT.
func (s Statement) Name() string {
	if len(s.tokens) == 0 {
		return "nothing"
	}
	return strings.ToUpper(s.tokens[0].text)
}

// set is a set of words.
func set(all string) map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(all) {
		words[w] = true
	}
	return words
}

var (
	// own are statements that are about their own session alone.
	own = set("SET SHOW RESET DEALLOCATE DISCARD USE nothing")
	// shared are words that make such a statement mean something to others: it ends a transaction, or gives up locks.
	shared = set("AUTOCOMMIT ALL GLOBAL PERSIST TABLES STATUS PROCESSLIST ENGINE")
	// constant are the words of questions whose answer nobody else changes.
	constant = set("SELECT AS VERSION CURRENT_SCHEMA CURRENT_DATABASE CURRENT_USER DATABASE SCHEMA USER CONNECTION_ID PG_BACKEND_PID " +
		"SESSION_USER TRUE NULL LIMIT")
	// catalogs are tables of a server's own that drivers read to know its types.
	catalogs = set("PG_TYPE PG_ENUM PG_RANGE")
	// harmless are words before a parenthesis that change nothing.
	harmless = set("SELECT IN VALUES AND OR NOT ON FROM WHERE AS EXISTS ANY ALL INTERVAL OVER USING WHEN THEN ELSE BY COUNT MAX MIN SUM COALESCE " +
		"NOW CLOCK_TIMESTAMP STATEMENT_TIMESTAMP TRANSACTION_TIMESTAMP CURRENT_TIMESTAMP LOCALTIMESTAMP UNIX_TIMESTAMP UTC_TIMESTAMP SYSDATE " +
		"EXTRACT CAST ABS DATE_ADD DATE_SUB TIMESTAMPDIFF TIMESTAMPADD MAKE_INTERVAL HASHTEXT LOWER UPPER CONCAT IF IFNULL VERSION " +
		"IS_FREE_LOCK IS_USED_LOCK")
	// changing are words that make a SELECT change something, or take locks.
	changing = set("UPDATE SHARE INTO NEXTVAL")
)

// several reports whether there is more than one statement.
func (s Statement) several() bool {
	for _, t := range s.tokens {
		if t.is(";") {
			return true
		}
	}
	return false
}

// calls reports whether a word stands before a parenthesis that is not in a set: a call of a function.
func (s Statement) calls(known map[string]bool) bool {
	for i, t := range s.tokens[:max(0, len(s.tokens)-1)] {
		if (t.kind == word || t.kind == quoted) && s.tokens[i+1].is("(") && !known[t.upper()] {
			return true
		}
	}
	return false
}

// has reports whether there is a word of a set.
func (s Statement) has(words map[string]bool) bool {
	for _, t := range s.tokens {
		if words[t.upper()] {
			return true
		}
	}
	return false
}

// private reports whether a statement about its own session is about nothing else.
func (s Statement) private() bool { return !s.calls(nil) && !s.has(shared) }

// Passes reports whether it means nothing to other clients, and others' mean nothing to it.
func (s Statement) Passes() bool {
	switch {
	case s.cut || s.several():
		return false
	case own[s.Name()]:
		return s.private()
	case s.Name() != "SELECT":
		return false
	case catalogs[s.table()]:
		return !s.calls(harmless) && !s.has(changing)
	}
	for i, t := range s.tokens {
		if variable := i > 1 && s.tokens[i-1].is("@") && s.tokens[i-2].is("@"); t.kind == word && !constant[t.upper()] && !variable {
			return false
		}
	}
	return true
}

// Reads reports whether it changes nothing, and takes no lock.
func (s Statement) Reads() bool {
	switch {
	case s.cut || s.several():
		return false
	case own[s.Name()]:
		return s.private()
	case s.Name() == "BEGIN", s.Name() == "START", s.Name() == "LISTEN":
		return true
	}
	return s.Name() == "SELECT" && !s.calls(harmless) && !s.has(changing)
}

// Access is what it does to what it is about.
func (s Statement) Access() backend.Access {
	switch {
	case s.Reads():
		return backend.Read
	case s.Name() == "INSERT":
		return backend.Create
	case s.Name() == "DELETE":
		return backend.Delete
	}
	return backend.Opaque
}

// before are words before the name of a table.
var before = set("FROM INTO UPDATE TABLE JOIN EXISTS ONLY")

// Table is the first table that it names; "" is none.
func (s Statement) Table() string { return strings.ToLower(s.table()) }

// table is the same in capitals, without the name of its schema.
func (s Statement) table() string {
	for i, t := range s.tokens[:max(0, len(s.tokens)-1)] {
		next := s.tokens[i+1]
		if !before[t.upper()] || before[next.upper()] || next.upper() == "IF" || next.kind != word && next.kind != quoted {
			continue
		}
		for i += 3; i < len(s.tokens) && s.tokens[i-1].is("."); i += 2 {
			next = s.tokens[i]
		}
		return strings.ToUpper(next.text)
	}
	return ""
}

// Shown is the statement as traces have it. params are the values of its parameters, in the order of their numbers or of their
// question marks.
func (s Statement) Shown(params []string, n *stream.Names) string {
	var b strings.Builder
	marks := 0
	for i, t := range s.tokens {
		if t.behind && i > 0 {
			b.WriteByte(' ')
		}
		if t.kind == param && t.text == "?" {
			marks++
		}
		b.WriteString(t.shown(params, marks, n))
		if b.Len() > mostOfStatement {
			return b.String() + " …"
		}
	}
	return b.String()
}

// mostOfStatement is how long a statement may be that is shown whole.
const mostOfStatement = 600
