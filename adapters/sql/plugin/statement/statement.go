package statement

import (
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/backend"
)

// Statement is the text that a client has sent to be carried out at once: one statement, or several separated by semicolons.
type Statement struct {
	tokens []token
	cut    bool // the text was too long, and its end is missing
}

// longest is the maximum number of bytes of a statement that are kept.
const longest = 1 << 14

// Read parses an SQL text.
func Read(sql string, d Dialect) Statement {
	s := Statement{cut: len(sql) > longest}
	s.tokens = scan(sql[:min(len(sql), longest)], d)
	for len(s.tokens) > 0 && s.tokens[len(s.tokens)-1].is(";") {
		s.tokens = s.tokens[:len(s.tokens)-1]
	}
	return s
}

// Name returns the statement's first word in capitals, such as SELECT.
func (s Statement) Name() string {
	if len(s.tokens) == 0 {
		return "nothing"
	}
	return strings.ToUpper(s.tokens[0].text)
}

// set returns the set of the words in all.
func set(all string) map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(all) {
		words[w] = true
	}
	return words
}

var (
	// own are the first words of statements that affect only their own session, unless they contain a word of shared
	// or call a function.
	own = set("SET SHOW RESET DEALLOCATE DISCARD USE nothing")
	// shared are words with which a statement that begins with a word of own may affect other sessions: for example,
	// it ends a transaction or releases locks.
	shared = set("AUTOCOMMIT ALL GLOBAL PERSIST TABLES STATUS PROCESSLIST ENGINE")
	// constant are the words of queries whose results do not depend on other clients.
	constant = set("SELECT AS VERSION CURRENT_SCHEMA CURRENT_DATABASE CURRENT_USER DATABASE SCHEMA USER CONNECTION_ID PG_BACKEND_PID " +
		"SESSION_USER TRUE NULL LIMIT")
	// catalogs are system tables that drivers read to learn the server's types.
	catalogs = set("PG_TYPE PG_ENUM PG_RANGE")
	// harmless are words that may precede a parenthesis and change nothing.
	harmless = set("SELECT IN VALUES AND OR NOT ON FROM WHERE AS EXISTS ANY ALL INTERVAL OVER USING WHEN THEN ELSE BY COUNT MAX MIN SUM COALESCE " +
		"NOW CLOCK_TIMESTAMP STATEMENT_TIMESTAMP TRANSACTION_TIMESTAMP CURRENT_TIMESTAMP LOCALTIMESTAMP UNIX_TIMESTAMP UTC_TIMESTAMP SYSDATE " +
		"EXTRACT CAST ABS DATE_ADD DATE_SUB TIMESTAMPDIFF TIMESTAMPADD MAKE_INTERVAL HASHTEXT LOWER UPPER CONCAT IF IFNULL VERSION " +
		"IS_FREE_LOCK IS_USED_LOCK")
	// changing are words with which a SELECT changes something or takes locks.
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

// calls reports whether the statement calls a function that is not in known: a word before a parenthesis.
func (s Statement) calls(known map[string]bool) bool {
	for i, t := range s.tokens[:max(0, len(s.tokens)-1)] {
		if (t.kind == word || t.kind == quoted) && s.tokens[i+1].is("(") && !known[t.upper()] {
			return true
		}
	}
	return false
}

// has reports whether the statement contains one of the words.
func (s Statement) has(words map[string]bool) bool {
	for _, t := range s.tokens {
		if words[t.upper()] {
			return true
		}
	}
	return false
}

// private reports whether a statement whose first word is in own affects only its own session.
func (s Statement) private() bool { return !s.calls(nil) && !s.has(shared) }

// Passes reports whether the statement neither affects other clients nor depends on them.
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

// Reads reports whether the statement changes nothing and takes no lock.
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

// Access returns how the statement accesses its table.
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

// before are words that precede the name of a table.
var before = set("FROM INTO UPDATE TABLE JOIN EXISTS ONLY")

// Table returns the name of the statement's first table in lower case; "" is none.
func (s Statement) Table() string { return strings.ToLower(s.table()) }

// table returns the name of the first table in capitals, without its schema.
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

// Shown returns the statement as traces show it. params are the values of its parameters, in the order of their numbers or
// of their question marks.
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

// mostOfStatement is the maximum number of bytes of a statement that are shown.
const mostOfStatement = 600
