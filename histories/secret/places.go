package secret

import (
	"regexp"
	"slices"
	"strings"
)

// Regular expressions that find names of secrets, such as "password", and values in shell commands.
const (
	called = `(?:[\w-]*(?:passw|passphrase|pwd|secret|token|credential|(?:api|access|private)[_-]?key)[\w-]*|(?:[\w-]*[_-])?(?:auth|pass))`
	word   = `((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s&'"\\]|['"\\])+)`
)

var (
	scheme = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://`)
	query  = regexp.MustCompile(`(?i)[?&;][^=&;\s]*(?:pass|pwd|secret|token|key|auth)[^=&;\s]*=([^&;\s'"]+)`)
	assign = regexp.MustCompile(`(?i)` + called + `=` + word)
	member = regexp.MustCompile(`(?i)"` + called + `"\s*:\s*"((?:\\.|[^"\\])+)"`)
	header = regexp.MustCompile(`(?i)authorization:\s*(?:bearer|basic)\s+([^\s'"]+)`)
	option = regexp.MustCompile(`(?i)(?:^|[\s'"])--?` + called + `\s+` + word)

	named = []*regexp.Regexp{query, assign, member, header}
)

// placeholder is the text that stands for a password in the examples of addresses. It is not hidden.
const placeholder = "PASSWORD"

// place is the position of a secret in a text: it is text[from:to].
type place struct{ from, to int }

// inCommand finds the secrets in a shell command.
func inCommand(text string) []place {
	return merged(append(addresses(text), assignments(text, append(slices.Clip(named), option))...))
}

// addresses finds the passwords in addresses such as amqp://user:password@host.
func addresses(text string) (out []place) {
	starts := scheme.FindAllStringIndex(text, -1)
	for i, at := range starts {
		until := len(text)
		if i+1 < len(starts) {
			until = starts[i+1][0]
		}
		rest := text[at[1]:until]
		if space := strings.IndexAny(rest, " \t\r\n"); space >= 0 {
			rest = rest[:space]
		}
		last := strings.LastIndexByte(rest, '@')
		if last < 0 {
			continue
		}
		from := at[1]
		if user, _, password := strings.Cut(rest[:last], ":"); password {
			from += len(user) + 1
		}
		if from < at[1]+last && rest[from-at[1]:last] != placeholder {
			out = append(out, place{from, at[1] + last})
		}
	}
	return out
}

// assignments finds the values that the patterns match, such as the value in password=x. Quotes are left out.
func assignments(text string, patterns []*regexp.Regexp) (out []place) {
	for _, pattern := range patterns {
		for _, at := range pattern.FindAllStringSubmatchIndex(text, -1) {
			if p := bare(text, place{at[2], at[3]}); p.from < p.to {
				out = append(out, p)
			}
		}
	}
	return out
}

// bare narrows the position of a value: it leaves out quotes and a semicolon after the value.
func bare(text string, p place) place {
	value := strings.TrimRight(text[p.from:p.to], ";")
	p.to = p.from + len(value)
	if value == "" {
		return p
	}
	if value[0] == '\'' || value[0] == '"' {
		if end := strings.IndexByte(value[1:], value[0]); end == len(value)-2 {
			return place{p.from + 1, p.to - 1}
		}
	}
	if i := strings.IndexAny(value, `'"`); i > 0 && quoteAt(text, p.from) == rune(value[i]) {
		return place{p.from, p.from + i}
	}
	return place{p.from, p.from + len(strings.TrimRight(value, `'"`))}
}

// quoteAt is the kind of quote that encloses a position in a shell command; 0 if none does.
func quoteAt(text string, at int) (quote rune) {
	escaped := false
	for _, c := range text[:at] {
		switch {
		case escaped:
			escaped = false
		case c == '\\' && quote != '\'':
			escaped = true
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		}
	}
	return quote
}

// merged sorts the positions and merges those that overlap.
func merged(places []place) (out []place) {
	slices.SortFunc(places, func(a, b place) int { return a.from - b.from })
	for _, p := range places {
		if last := len(out) - 1; last >= 0 && p.from <= out[last].to {
			out[last].to = max(out[last].to, p.to)
			continue
		}
		out = append(out, p)
	}
	return out
}
