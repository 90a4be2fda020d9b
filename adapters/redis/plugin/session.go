package plugin

import (
	"strings"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/redis/resp"
)

// protocol is the protocol between clients and a Redis server.
type protocol struct{ scripts *scripts }

// Session returns the parser for a new connection.
func (p protocol) Session() stream.Session { return &session{scripts: p.scripts} }

// session is the parser for one client's connection.
type session struct {
	scripts  *scripts
	sent     []request       // commands without a reply
	channels int             // number of the client's subscriptions, including patterns
	awaited  int             // number of replies to the oldest command that have arrived
	missed   map[string]bool // scripts that the client has tried to run and that the server did not know
}

// request is a command that has no reply yet.
type request struct {
	name   string
	more   int    // number of expected replies after the first
	script string // digest of the script that the command runs or loads; "" if there is none
}

// Command parses the first command of b, which is what the client has sent.
func (s *session) Command(b []byte) (c stream.Sent, n int, err error) {
	args, n, err := readCommand(b)
	if err != nil || n == 0 {
		return c, 0, err
	}
	if len(args) == 0 { // an empty line, which Redis ignores
		return stream.Sent{Name: "nothing", Passes: true, Words: func(*stream.Names) string { return "nothing" }}, n, nil
	}
	name := nameOf(args)
	c = stream.Sent{
		Name: strings.ReplaceAll(name, "|", " "), Replies: true, Passes: passing[name], MayChange: !reading[name], Access: accessOf(name),
		Words: func(names *stream.Names) string { return shown(name, args, names) },
	}
	if at := keyAt(name, args); at > 0 {
		c.Key = args[at]
	}
	if name == "QUIT" {
		c.Role = gate.Closes
	}
	if name == "SCRIPT|LOAD" && len(args) > 2 && !s.missed[digest(args[2])] {
		s.scripts.load(args[2])
	}
	s.sent = append(s.sent, request{name, confirmations(name, args), scriptOf(name, args)})
	return c, n, nil
}

// confirmations returns how many replies a command gets after the first. For example, SUBSCRIBE with three channels
// gets three replies.
func confirmations(name string, args []string) int {
	switch name {
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE":
		return max(0, len(args)-2)
	}
	return 0
}

// Reply parses the first message of the server in b.
func (s *session) Reply(b []byte) (r stream.Said, n, settles int, err error) {
	v, n, err := resp.Read(b)
	if err != nil || n == 0 {
		return r, 0, 0, err
	}
	v = v.Clone()
	word := ""
	if len(v.Items) > 0 && (v.Kind == '>' || v.Kind == '*') {
		word = strings.ToLower(string(v.Items[0].Text))
	}
	switch {
	case strings.HasSuffix(word, "message") && (v.Kind == '>' || s.channels > 0): // a published message
	case v.Kind == '>' && !strings.HasSuffix(word, "subscribe"): // another push message, such as invalidate
	default:
		settles = s.settles(word, v)
	}
	name := ""
	if settles > 0 {
		name = s.sent[0].name
		s.miss(s.sent[0].script, v)
		s.sent = s.sent[1:]
	}
	r = stream.Said{Result: resultOf(name, v), Words: func(names *stream.Names) string { return said(v, names) }}
	return r, n, settles, nil
}

// miss records that the server does not know a script. If the client loads the script after that, the load does not
// count as unasked.
func (s *session) miss(script string, v resp.Value) {
	if script == "" || v.Kind != '-' || !strings.HasPrefix(string(v.Text), unknown) {
		return
	}
	if s.missed == nil {
		s.missed = make(map[string]bool)
	}
	s.missed[script] = true
}

// settles returns the number of commands that a reply completes, 0 or 1. Only the last reply to a subscription to
// several channels completes it.
func (s *session) settles(word string, v resp.Value) int {
	if len(s.sent) == 0 {
		return 0
	}
	if !strings.HasSuffix(word, "subscribe") || len(v.Items) < 3 {
		return 1
	}
	s.channels = atoi(v.Items[2].Text)
	if s.awaited < s.sent[0].more {
		s.awaited++
		return 0
	}
	s.awaited = 0
	return 1
}

// Greets returns false, since the client sends first.
func (s *session) Greets() bool { return false }

// Listens reports whether the client has a subscription, so that the server may send messages.
func (s *session) Listens() bool { return s.channels > 0 }

// atoi parses a number; it returns 0 for other text.
func atoi(b []byte) (n int) {
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<20 {
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}
