package plugin

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/backend"
)

// Methods of etcd that are treated specially, without their packages.
const (
	rangeMethod = "KV/Range"
	putMethod   = "KV/Put"
	deletes     = "KV/DeleteRange"
	txnMethod   = "KV/Txn"
	grantMethod = "Lease/LeaseGrant"
	revokes     = "Lease/LeaseRevoke"
	keepAlive   = "Lease/LeaseKeepAlive"
	watchMethod = "Watch/Watch"
)

// readers are further methods that change nothing on the server.
var readers = map[string]bool{
	"Lease/LeaseTimeToLive": true, "Lease/LeaseLeases": true, "Maintenance/Status": true, "Maintenance/Alarm": true, "Cluster/MemberList": true,
	watchMethod: true, keepAlive: true,
}

// sent returns the command for the request message of a call. number is the call's number.
func sent(at *call, number uint32, l *leases) stream.Sent {
	m := messageOf(at.request)
	c := stream.Sent{
		Name: short(at.method), Replies: true, Call: uint64(number), Access: backend.Opaque, MayChange: !readers[at.method],
		Words: func(n *stream.Names) string { return short(at.method) },
	}
	var o op
	switch at.method {
	case rangeMethod:
		o = rangeOf(m)
	case putMethod:
		o = putOf(m)
	case deletes:
		o = deleteOf(m)
	case txnMethod:
		return txn(c, m, l)
	case grantMethod:
		c.Access = backend.OpenSession
		c.Words = func(*stream.Names) string { return fmt.Sprintf("LeaseGrant %ds", m.number(1)) }
		return c
	case revokes:
		c.Access = backend.CloseSession
		c.Words = func(n *stream.Names) string { return "LeaseRevoke " + n.Value(hexOf(int64(m.number(1)))) }
		return c
	case keepAlive:
		c.Passes, c.Access = true, backend.Read
		return c
	case watchMethod:
		return watch(c, m, l)
	default:
		if readers[at.method] {
			c.Access = backend.Read
		}
		return c
	}
	c.Access, c.MayChange = o.access, o.access != backend.Read
	c.Key, _ = l.split(o.key)
	c.Words = func(n *stream.Names) string { return o.words(n, l) }
	return c
}

// short returns a method's name without its service: Txn for KV/Txn.
func short(method string) string { return method[strings.IndexByte(method, '/')+1:] }

// cancelled returns the command for a client's cancellation of a call.
func cancelled(at *call, number uint32) stream.Sent {
	return stream.Sent{
		Name: "cancel", Passes: at.isStream() || at.request == nil, Cancels: uint64(number),
		Words: func(*stream.Names) string { return "cancel " + short(at.method) },
	}
}

// op is an operation on a key or a range of keys.
type op struct {
	verb, key, more string
	lease           int64
	access          backend.Access
}

// words returns a one-line description of the operation.
func (o *op) words(n *stream.Names, l *leases) string {
	words := []string{o.verb, l.item(o.key, n)}
	if o.more != "" {
		words[1] += o.more
	}
	if o.lease != 0 {
		words = append(words, "lease", n.Value(hexOf(o.lease)))
	}
	return strings.Join(words, " ")
}

// spread returns "…" for an operation on a range of keys that ends at the key end. It returns "" if end is "", which
// stands for a single key.
func spread(end string) string {
	if end == "" {
		return ""
	}
	return "…"
}

func rangeOf(m message) op {
	return op{verb: "Range", key: m.text(1), more: spread(m.text(2)), access: backend.Read}
}

func putOf(m message) op {
	return op{verb: "Put", key: m.text(1), lease: int64(m.number(3)), access: backend.Create}
}

func deleteOf(m message) op {
	return op{verb: "DeleteRange", key: m.text(1), more: spread(m.text(2)), access: backend.Delete}
}

// ops returns the operations in a branch of a transaction. nested says that the branch contains another transaction.
func ops(branch []message) (all []op, nested bool) {
	for _, request := range branch {
		for i, read := range []func(message) op{rangeOf, putOf, deleteOf} {
			for _, m := range request.each(i + 1) {
				all = append(all, read(m))
			}
		}
		nested = nested || request.has(4)
	}
	return all, nested
}

// txn adds to c what is specific to a transaction, whose request is m.
func txn(c stream.Sent, m message, l *leases) stream.Sent {
	then, nested := ops(m.each(2))
	otherwise, more := ops(m.each(3))
	c.Access, c.MayChange = backend.Read, nested || more
	for i, o := range append(then[:len(then):len(then)], otherwise...) {
		if c.Key == "" {
			c.Key, _ = l.split(o.key)
		}
		if o.access != backend.Read {
			c.MayChange = true
			if c.Access == backend.Read || i < len(then) && o.access == backend.Create {
				c.Access = o.access
			}
		}
	}
	if nested || more {
		c.Access = backend.Opaque
	}
	c.Words = func(n *stream.Names) string {
		var words []string
		for _, condition := range m.each(1) {
			words = append(words, conditionOf(condition, n, l))
		}
		line := "Txn"
		if len(words) > 0 {
			line += " if " + strings.Join(words, " and ")
		}
		return line + branch(" then ", then, n, l) + branch(" else ", otherwise, n, l)
	}
	return c
}

// branch describes the operations of a branch in a line.
func branch(word string, all []op, n *stream.Names, l *leases) string {
	var words []string
	for _, o := range all {
		words = append(words, o.words(n, l))
	}
	if len(words) == 0 {
		return ""
	}
	return word + strings.Join(words, ", ")
}

// conditionOf describes a condition of a transaction, which compares a key's version, the revision of its creation or last
// change, its value or its lease.
func conditionOf(m message, n *stream.Names, l *leases) string {
	sign := [...]string{"=", ">", "<", "≠"}[min(m.number(1), 3)]
	of := [...]string{"version", "created", "modified", "value", "lease"}[min(m.number(2), 4)]
	to := "revision"
	switch kind := m.number(2); {
	case kind == 3:
		to = n.Value(m.text(7))
	case kind == 4:
		to = n.Value(hexOf(int64(m.number(8))))
	case m.number(4) == 0 && m.number(5) == 0 && m.number(6) == 0:
		to = "0"
	case kind == 0:
		to = strconv.FormatUint(m.number(4), 10)
	}
	return l.item(m.text(3), n) + " " + of + sign + to
}

// watch completes c, the command that begins a watch or concerns an existing one.
func watch(c stream.Sent, m message, l *leases) stream.Sent {
	c.Access = backend.Read
	create := m.each(1)
	if len(create) == 0 { // the request cancels a watch or asks for its progress, and may get no answer
		c.Passes, c.Replies = true, false
		return c
	}
	c.Key, _ = l.split(create[0].text(1))
	c.Words = func(n *stream.Names) string {
		return "Watch " + l.item(create[0].text(1), n) + spread(create[0].text(2))
	}
	if create[0].number(3) != 0 {
		l.watchesOld()
	}
	return c
}

// item returns a key's name as traces show it. It omits the part that differs from run to run, and replaces a lease
// by a number.
func (l *leases) item(key string, n *stream.Names) string {
	name, lease := l.split(key)
	if name = printable(n.Item(name)); lease != "" {
		name += n.Value(lease)
	}
	return name
}

// printable returns s, quoted if it has characters that can't be shown.
func printable(s string) string {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// said returns the reply that ends a call: its answer, or the status of its failure.
func said(at *call, status string, l *leases) stream.Said {
	if status != "0" {
		return stream.Said{Result: failures[status], Words: func(*stream.Names) string { return failure(status) }}
	}
	m, asked := messageOf(at.answer), messageOf(at.request)
	r := stream.Said{Words: func(*stream.Names) string { return "ok" }}
	switch at.method {
	case grantMethod:
		l.grants(int64(m.number(2)), m.number(3))
		r.Words = func(n *stream.Names) string { return n.Value(hexOf(int64(m.number(2)))) }
	case revokes:
		l.ended(int64(asked.number(1)))
	case rangeMethod:
		if !m.has(2) {
			r.Result = backend.Absent
		}
		r.Words = func(n *stream.Names) string { return found(m, n, l) }
	case deletes:
		if m.number(2) == 0 {
			r.Result = backend.Absent
		}
		r.Words = func(*stream.Names) string { return fmt.Sprintf("%d deleted", m.number(2)) }
	case txnMethod:
		if m.number(2) == 0 {
			r.Result = backend.Refused
		}
		r.Words = func(n *stream.Names) string { return outcome(m, n, l) }
	}
	return r
}

// found lists the keys of an answer in a line.
func found(m message, n *stream.Names, l *leases) string {
	var words []string
	for _, kv := range m.each(2) {
		words = append(words, l.item(kv.text(1), n))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// outcome describes the outcome of a transaction in a line.
func outcome(m message, n *stream.Names, l *leases) string {
	words := []string{"else"}
	if m.number(2) != 0 {
		words[0] = "then"
	}
	for _, answer := range m.each(3) {
		for _, r := range answer.each(1) {
			words = append(words, found(r, n, l))
		}
	}
	return strings.Join(words, " ")
}

// failures are the results of commands, by gRPC status code.
var failures = map[string]backend.Result{
	"": backend.Failed, "1": backend.Failed, "2": backend.Failed, "3": backend.Wrong, "5": backend.Absent, "6": backend.Refused, "7": backend.Denied,
	"9": backend.Wrong, "11": backend.Wrong, "12": backend.Wrong, "13": backend.Failed, "14": backend.Failed, "16": backend.Denied, "reset": backend.Failed,
}

// statuses are descriptions of gRPC status codes.
var statuses = map[string]string{"": "no status", "1": "cancelled", "5": "not found", "9": "precondition failed", "12": "unimplemented", "14": "unavailable", "16": "unauthenticated", "reset": "reset"}

// failure returns a description of a gRPC status code.
func failure(status string) string {
	if w := statuses[status]; w != "" {
		return w
	}
	return "status " + strconv.QuoteToASCII(status)
}

// heard returns one answer of a call that gets several answers, and the number of commands that it settles.
func heard(at *call, l *leases) (r stream.Said, settles int) {
	m := messageOf(at.answer)
	r = stream.Said{Words: func(*stream.Names) string { return "ok" }}
	switch at.method {
	case keepAlive:
		l.renews(int64(m.number(2)), m.number(3))
		return r, 1
	case watchMethod:
		if m.number(3) != 0 {
			r.Words = func(*stream.Names) string { return "watches" }
			return r, 1
		}
		events := m.each(11)
		r.Words = func(n *stream.Names) string {
			words := []string{"watch:"}
			for _, e := range events {
				verb := [...]string{"put", "deleted"}[min(e.number(1), 1)]
				for _, kv := range e.each(2) {
					words = append(words, verb+" "+l.item(kv.text(1), n))
				}
			}
			return strings.Join(words, " ")
		}
		return r, 0
	}
	return r, 1
}
