package plugin

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/backend"
)

// Kinds of requests, by their number in the protocol.
const (
	createNode   = 1
	deleteNode   = 2
	existsNode   = 3
	getData      = 4
	setData      = 5
	getChildren  = 8
	ping         = 11
	getChildren2 = 12
	checkNode    = 13
	multiple     = 14
	createNode2  = 15
	container    = 19
	createTTL    = 21
	authenticate = 100
	setWatches   = 101
	setWatches2  = 105
	closeSession = -11
)

// watched is the request number in messages that report the event of a watch, since they answer no request.
const watched = -1

// kinds are the names of the kinds of requests.
var kinds = map[int32]string{
	createNode: "create", deleteNode: "delete", existsNode: "exists", getData: "getData", setData: "setData", 6: "getACL", 7: "setACL",
	getChildren: "getChildren", 9: "sync", ping: "ping", getChildren2: "getChildren", checkNode: "check", multiple: "multi", createNode2: "create",
	container: "createContainer", 20: "deleteContainer", createTTL: "createTTL", authenticate: "auth", setWatches: "setWatches", 102: "sasl",
	103: "getEphemerals", 104: "getAllChildrenNumber", setWatches2: "setWatches", 106: "addWatch", closeSession: "closeSession",
}

// accesses says how requests access a node. Kinds that are missing are opaque.
var accesses = map[int32]backend.Access{
	createNode: backend.Create, createNode2: backend.Create, container: backend.Create, createTTL: backend.Create, setData: backend.Create,
	deleteNode: backend.Delete, 20: backend.Delete, existsNode: backend.Read, getData: backend.Read, 6: backend.Read, getChildren: backend.Read,
	getChildren2: backend.Read, 9: backend.Read, checkNode: backend.Read, 103: backend.Read, 104: backend.Read, ping: backend.Read,
	setWatches: backend.Read, setWatches2: backend.Read, 106: backend.Read, closeSession: backend.CloseSession,
}

// passing are the kinds of requests that do not affect other clients.
var passing = map[int32]bool{ping: true, authenticate: true, setWatches: true, setWatches2: true, 102: true}

// nameOf returns the name of a kind of request.
func nameOf(kind int32) string {
	if name := kinds[kind]; name != "" {
		return name
	}
	return "request " + strconv.Itoa(int(kind))
}

// creating reports whether requests of a kind create a node.
func creating(kind int32) bool {
	return kind == createNode || kind == createNode2 || kind == container || kind == createTTL
}

// sent returns the command for a request of the given kind.
func sent(kind int32, r *record) stream.Sent {
	access := accesses[kind]
	c := stream.Sent{
		Name: nameOf(kind), Replies: true, Passes: passing[kind], MayChange: access != backend.Read, Access: access,
		Words: func(*stream.Names) string { return nameOf(kind) },
	}
	switch {
	case kind == closeSession:
		c.Role = gate.Closes
	case kind == multiple:
		parts := operations(r)
		c.Words = func(n *stream.Names) string {
			var words []string
			for _, p := range parts {
				words = append(words, p.words(n))
			}
			return "multi " + strings.Join(words, ", ")
		}
	case access != backend.Opaque && !passing[kind]:
		o := operationOf(kind, r)
		c.Key, c.Words = keyOf(o.path), o.words
	}
	return c
}

// operation is an operation of a request on one node.
type operation struct {
	kind        int32
	path, flags string
}

// nodeFlags are the names of a new node's flags, by their number.
var nodeFlags = [...]string{"", "ephemeral", "sequential", "ephemeral sequential"}

// operationOf parses an operation of the given kind from the record.
func operationOf(kind int32, r *record) *operation {
	o := &operation{kind: kind, path: r.text()}
	switch {
	case creating(kind):
		r.buffer()
		r.acl()
		o.flags = nodeFlags[uint32(r.int())%uint32(len(nodeFlags))]
	case kind == setData:
		r.buffer()
		r.int()
	case kind == deleteNode, kind == checkNode:
		r.int()
	case r.flag():
		o.flags = "watch"
	}
	return o
}

// mostOperations is the maximum number of operations of one request that are shown.
const mostOperations = 100

// operations reads the operations of a request that has several.
func operations(r *record) (all []*operation) {
	for len(all) < mostOperations && len(r.b) > 0 {
		kind, last := r.int(), r.flag()
		if r.int(); last {
			break
		}
		all = append(all, operationOf(kind, r))
	}
	return all
}

// words returns a one-line description of the operation.
func (o *operation) words(n *stream.Names) string {
	return strings.TrimSpace(nameOf(o.kind) + " " + item(o.path, n) + " " + o.flags)
}

// unique matches a UUID, which clients put into the names of nodes to make them unique.
var unique = regexp.MustCompile(`[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// keyOf returns the node that a request is about. If the node's name has a UUID, it returns the parent.
func keyOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 && unique.MatchString(path[i:]) {
		return path[:i]
	}
	return path
}

// item returns a node's path as traces show it. It omits the part that differs from run to run, and replaces each
// UUID by a number.
func item(path string, n *stream.Names) string {
	name := unique.ReplaceAllStringFunc(n.Item(path), n.Value)
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.QuoteToGraphic(name)
	}
	return name
}

// failures are the results for error codes, and the words that describe them.
var failures = map[int32]struct {
	result backend.Result
	words  string
}{
	-4: {backend.Failed, "connection loss"}, -8: {backend.Wrong, "bad arguments"}, -101: {backend.Absent, "no node"}, -102: {backend.Denied, "no auth"},
	-103: {backend.Refused, "bad version"}, -108: {backend.Wrong, "no children for ephemerals"}, -110: {backend.Refused, "node exists"},
	-111: {backend.Refused, "not empty"}, -112: {backend.Ended, "session expired"}, -115: {backend.Denied, "auth failed"}, -118: {backend.Ended, "session moved"},
}

// said returns the reply to a request of the given kind. code is the reply's error code; 0 is success.
func said(kind, code int32, body *record) stream.Said {
	if code != 0 {
		f, known := failures[code]
		if !known {
			f.result, f.words = backend.Failed, fmt.Sprint("error ", code)
		}
		return stream.Said{Result: f.result, Words: func(*stream.Names) string { return f.words }}
	}
	switch {
	case kind == closeSession:
		return stream.Said{Ends: true, Words: func(*stream.Names) string { return "ok" }}
	case creating(kind):
		path := body.text()
		return stream.Said{Words: func(n *stream.Names) string { return item(path, n) }}
	case kind == getChildren, kind == getChildren2:
		var names []string
		for count := body.int(); count > 0 && len(body.b) > 0; count-- {
			names = append(names, body.text())
		}
		return stream.Said{Words: func(n *stream.Names) string {
			all := make([]string, len(names))
			for i, name := range names {
				all[i] = item(name, n)
			}
			slices.Sort(all)
			return "[" + strings.Join(all, ", ") + "]"
		}}
	}
	return stream.Said{Words: func(*stream.Names) string { return "ok" }}
}

// events are the words for the types of events that watches send.
var events = map[int32]string{1: "created", 2: "deleted", 3: "changed", 4: "children changed", -1: "no session"}

// event returns the gate's message for an event that a watch sends.
func event(body *record) stream.Said {
	what := events[body.int()]
	body.int()
	path := body.text()
	return stream.Said{Words: func(n *stream.Names) string { return strings.TrimSpace("watch: " + what + " " + item(path, n)) }}
}
