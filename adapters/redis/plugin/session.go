package plugin

import (
	"strings"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/redis/resp"
)

// protocol is how clients of Redis talk to a server.
type protocol struct{ scripts *scripts }

// Session begins a connection.
func (p protocol) Session() stream.Session { return &session{scripts: p.scripts} }

// session is a connection.
type session struct {
	scripts  *scripts
	sent     []request       // commands that have no reply
	channels int             // that it has subscribed to, patterns counted in
	awaited  int             // replies of the first of those commands that are still to come
	missed   map[string]bool // scripts that it was told of that the server does not know them
}

// request is a command that has no reply.
type request struct {
	name   string
	more   int    // replies that it has beyond the first
	script string // that it names; "" is none
}

// Command cuts off a command.
func (s *session) Command(b []byte) (c stream.Sent, n int, err error) {
	args, n, err := readCommand(b)
	if err != nil || n == 0 {
		return c, 0, err
	}
	if len(args) == 0 { // an empty line, which Redis takes no notice of
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

// confirmations is how many replies a command has beyond the first.
func confirmations(name string, args []string) int {
	switch name {
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE":
		return max(0, len(args)-2)
	}
	return 0
}

// Reply cuts off what the server says.
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
	case strings.HasSuffix(word, "message") && (v.Kind == '>' || s.channels > 0): // what was published
	case v.Kind == '>' && !strings.HasSuffix(word, "subscribe"): // such as invalidate
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

// miss notes that the server does not know a script: a client that loads it then does so because of that.
func (s *session) miss(script string, v resp.Value) {
	if script == "" || v.Kind != '-' || !strings.HasPrefix(string(v.Text), unknown) {
		return
	}
	if s.missed == nil {
		s.missed = make(map[string]bool)
	}
	s.missed[script] = true
}

// settles is how many commands a reply ends: one, or none of a subscription to several channels before the last of them.
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

// Greets is false: the client begins.
func (s *session) Greets() bool { return false }

// Listens reports whether it has subscribed to something.
func (s *session) Listens() bool { return s.channels > 0 }

// atoi is a number, 0 where it is none.
func atoi(b []byte) (n int) {
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<20 {
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}
