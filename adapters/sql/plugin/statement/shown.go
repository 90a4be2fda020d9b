package statement

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/stream"
)

var (
	small     = regexp.MustCompile(`^[-+]?\d{1,8}(\.\d{1,3})?$`)
	constants = regexp.MustCompile(`^[a-z]{0,20}$|^\d{1,8} [a-z]{1,20}$`)
	printable = regexp.MustCompile(`^[!-~ ]{0,80}$`)
)

// shown returns a token as traces show it. marks is the number of question marks so far, this token included.
func (t token) shown(params []string, marks int, n *stream.Names) string {
	switch t.kind {
	case param:
		at := marks
		if t.text != "?" {
			at, _ = strconv.Atoi(t.text[1:])
		}
		if at > 0 && at <= len(params) {
			return Value(params[at-1], n)
		}
		return t.text
	case text:
		if constants.MatchString(t.text) {
			return "'" + t.text + "'"
		}
		return Value(t.text, n)
	case number:
		return Value(t.text, n)
	case quoted, word:
		return n.Item(t.text)
	}
	return t.text
}

// Value returns a value as traces show it. Small numbers, booleans and NULL are not changed. A value that contains a
// lock's name is shown without the part that differs from run to run. Any other value is replaced by a number.
func Value(value string, n *stream.Names) string {
	switch {
	case value == "":
		return "''"
	case small.MatchString(value), value == Null, value == "t", value == "f":
		return value
	case n.Own(value) && printable.MatchString(n.Item(value)):
		return n.Item(value)
	}
	return n.Value(value)
}

const (
	MostOfValue = 1 << 10 // maximum bytes kept of a value
	MostValues  = 100     // maximum number of values kept of a row, or of parameters
)

// Null represents SQL's NULL among the values of a row.
const Null = "NULL"

// mostColumns is the maximum number of values of a row that are shown.
const mostColumns = 6

// Row returns the values of a row as traces show them.
func Row(values []string, n *stream.Names) string {
	var all []string
	for i, v := range values {
		if i == mostColumns {
			all = append(all, "…")
			break
		}
		all = append(all, Value(v, n))
	}
	return "[" + strings.Join(all, ", ") + "]"
}
