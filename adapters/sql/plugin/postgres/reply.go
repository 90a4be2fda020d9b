package postgres

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/sql/plugin/statement"
	"github.com/lockproof/lockproof/model/backend"
)

// reply is what the server sends: a reply to a command, or a message that no command asked for.
type reply struct {
	rows    int
	first   []string // the values of the first row
	tags    []string // command tags, such as "INSERT 0 1"
	failure failure
	failed  bool
	notice  string // the channel of a notification
}

// Reply parses the first reply of b, or a message that no command asked for.
func (s *session) Reply(b []byte) (r stream.Said, n, settles int, err error) {
	skipped := 0 // commands after one that failed, which get no reply
	for s.failed && skipped < len(s.sent) && s.sent[skipped].kind == flushed {
		skipped++
	}
	var now *awaited
	if skipped < len(s.sent) {
		now = &s.sent[skipped]
	}
	if now != nil && now.kind == letter {
		if b[0] != 'N' {
			return r, 0, 0, fmt.Errorf("%w: the server answers %q to whether it encrypts", errProtocol, b[0])
		}
		s.sent = s.sent[skipped+1:]
		return stream.Said{Words: constant("N")}, 1, skipped + 1, nil
	}
	got, n, over, err := readReply(b, now)
	if err != nil || n == 0 {
		return r, 0, 0, err
	}
	name := ""
	if over {
		name, settles = now.name, skipped+1
		s.failed = got.failed && now.kind == flushed
		s.sent = s.sent[settles:]
	}
	return stream.Said{Words: got.words, Result: got.result(name), Ends: got.failed && got.failure.ends()}, n, settles, nil
}

// readReply reads a reply, or a message that no command asked for. now is the awaited reply. over is true if what was
// read is a complete reply. n is 0 if b is incomplete.
func readReply(b []byte, now *awaited) (r reply, n int, over bool, err error) {
	for count := 0; ; {
		kind, body, m, err := readMessage(b[n:])
		if err != nil || m == 0 {
			return r, 0, false, err
		}
		alone := n == 0 && (now == nil || kind == 'A')
		n += m
		if kind == 'G' || kind == 'W' {
			return r, 0, false, fmt.Errorf("%w: COPY from a client is not known here", errProtocol)
		}
		r.take(kind, body)
		if bytes.IndexByte([]byte("CIs123nT"), kind) >= 0 { // each of these completes one message of the command
			count++
		}
		if alone || now.over(kind, count, r.failure) {
			return r, n, !alone, nil
		}
	}
}

// over reports whether a message of the given kind ends the reply. count is the number of the command's messages that are
// completed so far, and f the error in the reply, if any.
func (a *awaited) over(kind byte, count int, f failure) bool {
	switch a.kind {
	case flushed:
		return kind == 'E' || count == a.count
	case ready:
		return kind == 'Z' || kind == 'E' && f.ends()
	}
	return false
}

// take adds a message to the reply that is being read.
func (r *reply) take(kind byte, body []byte) {
	f := fields{rest: body}
	switch kind {
	case 'D':
		if r.rows++; r.rows == 1 {
			r.first = f.values()
		}
	case 'C':
		if len(r.tags) < mostTags {
			r.tags = append(r.tags, f.text())
		}
	case 'E':
		r.failure, r.failed = readFailure(body), true
	case 'A':
		_ = f.take(4) // skips the number of the process that sent the notification
		r.notice = f.text()
	}
}

// mostTags is the maximum number of statements of one command whose results are shown.
const mostTags = 8

// states are the words for the error codes that locks meet.
var states = map[string]string{
	"23505": "unique violation", "25P02": "transaction is aborted", "40001": "serialization failure", "40P01": "deadlock", "55P03": "lock not available",
	"57014": "canceled", "57P01": "connection terminated", "42P01": "no such table", "42P07": "table exists", "23P01": "exclusion violation",
}

// words returns a description of the reply, as traces show it.
func (r *reply) words(n *stream.Names) string {
	if r.failed {
		return strings.TrimSpace("error " + r.failure.code + " " + states[r.failure.code])
	}
	var all []string
	if r.rows > 0 {
		all = append(all, statement.Row(r.first, n))
	}
	if r.rows > 1 {
		all = append(all, fmt.Sprintf("and %d rows more", r.rows-1))
	}
	for _, tag := range r.tags {
		if !strings.HasPrefix(tag, "SELECT ") || r.rows == 0 {
			all = append(all, tag)
		}
	}
	if r.notice != "" {
		all = append(all, "notification "+n.Item(r.notice))
	}
	return strings.Join(all, ", ")
}

// result classifies the outcome of a command with the given name.
func (r *reply) result(name string) backend.Result {
	last := ""
	if len(r.tags) > 0 {
		last = r.tags[len(r.tags)-1]
	}
	switch {
	case r.failed:
		return backend.Wrong
	case r.rows == 1 && len(r.first) == 1 && (r.first[0] == "f" || r.first[0] == "0") && name == "SELECT":
		return backend.Refused
	case last == "SELECT 0" || last == "DELETE 0" || last == "UPDATE 0":
		return backend.Absent
	case last == "INSERT 0 0":
		return backend.Refused
	}
	return backend.Done
}
