package consul

import (
	"fmt"
	"strings"
)

// Method is the kind of a request.
type Method uint8

// The methods, with their HTTP requests.
const (
	NoMethod       Method = iota
	CreateSession         // PUT /v1/session/create
	RenewSession          // PUT /v1/session/renew/ID
	DestroySession        // PUT /v1/session/destroy/ID
	Get                   // GET /v1/kv/KEY, with ?recurse and ?index
	Put                   // PUT /v1/kv/KEY, with ?cas, ?acquire or ?release
	Delete                // DELETE /v1/kv/KEY, with ?recurse or ?cas
)

// Request is a request that a client sends to Consul.
type Request struct {
	Method Method
	Key    string
	Value  string
	Flags  uint64 // of a Put: a number that the store keeps without using it
	// Recurse makes a Get or Delete apply to every key that begins with Key.
	Recurse bool
	// Index makes a Get a blocking query: it waits until something under Key has changed since that index. With 0 it is
	// answered at once. For a Put or Delete, see Checked.
	Index uint64
	// Checked makes a Put or Delete a check-and-set: it takes effect only if the key's ModifyIndex is Index. For a Put,
	// Index 0 means that the key must not exist.
	Checked bool
	// Acquire is the session with which a Put acquires the key, and Release the session with which it releases the key;
	// "" is none.
	Acquire, Release string
	// Session is the session that is created, renewed or destroyed.
	Session Session
}

// Reply is the reply to a request. The zero value means that the client gets no reply.
type Reply struct {
	Status  int     // HTTP status
	OK      bool    // a Put or Delete has taken effect
	Entries []Entry // the result of a Get, ordered by key
	Index   uint64  // X-Consul-Index of a Get
	Waits   bool    // the Get is a blocking query that the server has not answered yet
}

// Sent is a request and its reply as the payload of a trace step.
type Sent struct {
	Request Request
	Reply   Reply
	// Alive are the sessions that existed when the request arrived, the oldest first.
	Alive []Session
	// Modified is the ModifyIndex of the request's key when the request arrived; 0 if the key did not exist.
	Modified uint64
}

// Entry is a key of the store with its value.
type Entry struct {
	Key, Value string
	Flags      uint64
	// Session is the session that has acquired the key; "" is none.
	Session string
	// Created, Modified and Locks are Consul's CreateIndex, ModifyIndex and LockIndex of the key.
	Created, Modified, Locks uint64
}

// Words describes the request in a line for people.
func (r *Request) Words() string {
	switch r.Method {
	case CreateSession:
		return "PUT session/create"
	case RenewSession:
		return "PUT session/renew/" + r.Session.ID
	case DestroySession:
		return "PUT session/destroy/" + r.Session.ID
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s kv/%s", map[Method]string{Get: "GET", Put: "PUT", Delete: "DELETE"}[r.Method], r.Key)
	switch {
	case r.Recurse && r.Index > 0:
		out.WriteString("?recurse&index&wait")
	case r.Recurse:
		out.WriteString("?recurse")
	case r.Acquire != "":
		out.WriteString("?acquire=" + r.Acquire)
	case r.Release != "":
		out.WriteString("?release=" + r.Release)
	case r.Checked && r.Index == 0:
		out.WriteString("?cas=0")
	case r.Checked:
		out.WriteString("?cas=index")
	}
	if r.Value != "" {
		out.WriteString(" " + r.Value)
	}
	return out.String()
}

// Words describes the reply to a request of method m in a line for people.
func (r *Reply) Words(m Method) string {
	switch {
	case r.Waits:
		return "waits"
	case r.Status == 0:
		return "no reply"
	case r.Status == 404:
		return "404"
	case r.Status != 200:
		return fmt.Sprintf("%d invalid session", r.Status)
	case m == Put || m == Delete:
		return fmt.Sprint(r.OK)
	case m != Get:
		return "200"
	}
	var keys []string
	for _, e := range r.Entries {
		if e.Value != "" {
			keys = append(keys, e.Value)
		} else {
			keys = append(keys, fmt.Sprintf("%s held by %q", e.Key, e.Session))
		}
	}
	return strings.Join(keys, ", ")
}

// Fresh and Stale stand for indexes in a decoded state: the index of the last change, and any earlier index.
const (
	Stale uint64 = 1
	Fresh uint64 = 2
)
