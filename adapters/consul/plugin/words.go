package plugin

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/backend"
)

// subject is what a request is about: a key, or an action on a session.
type subject struct{ kind, name, session string }

// subjectOf returns what a request is about: a key, or an action on a session.
func subjectOf(r *http.Request) subject {
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	kind, rest, _ := strings.Cut(path, "/")
	switch kind {
	case "kv":
		return subject{kind: kind, name: rest}
	case "session":
		verb, id, _ := strings.Cut(rest, "/")
		return subject{kind: kind, name: verb, session: id}
	}
	return subject{kind: path}
}

// sent returns the gate's command for a request.
func sent(r *http.Request, body []byte) stream.Sent {
	about := subjectOf(r)
	c := stream.Sent{
		Name: strings.TrimSpace(r.Method + " " + about.kind), Replies: true, MayChange: r.Method != http.MethodGet,
		Access: accessOf(r, about), Words: func(n *stream.Names) string { return asked(r, about, body, n) },
	}
	if about.kind == "kv" {
		c.Key = about.name
	}
	return c
}

// accessOf returns how a request accesses the server's state, for example as a read.
func accessOf(r *http.Request, about subject) backend.Access {
	switch {
	case r.Method == http.MethodGet:
		return backend.Read
	case r.Method == http.MethodDelete, r.URL.Query().Has("release"):
		return backend.Delete
	case about.kind == "session" && about.name == "create":
		return backend.OpenSession
	case about.kind == "session" && about.name == "destroy":
		return backend.CloseSession
	case r.Method == http.MethodPut && about.kind == "kv":
		return backend.Create
	}
	return backend.Opaque
}

// asked returns the text of a request for traces: its method, subject, and parameters. It omits values, as they
// differ from run to run.
func asked(r *http.Request, about subject, body []byte, n *stream.Names) string {
	words := []string{r.Method, about.kind}
	switch about.kind {
	case "kv":
		words = append(words, n.Item(about.name))
	case "session":
		words = append(words, about.name)
		if about.session != "" {
			words = append(words, n.Value(about.session))
		}
		words = append(words, wanted(body)...)
	}
	query := r.URL.Query()
	var names []string
	for name := range query {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch name {
		case "acquire", "release":
			words = append(words, name+"="+n.Value(query.Get(name)))
		case "wait", "flags":
			words = append(words, name+"="+query.Get(name))
		default: // omitted: an index differs from run to run
			words = append(words, name)
		}
	}
	return strings.Join(words, " ")
}

// wanted returns the properties that a client asks for when it creates a session, in words.
func wanted(body []byte) (words []string) {
	var asked struct{ TTL, Behavior string }
	if json.Unmarshal(body, &asked) != nil {
		return nil
	}
	for _, word := range []string{asked.TTL, asked.Behavior} {
		if word != "" {
			words = append(words, word)
		}
	}
	return words
}

// said converts a server's HTTP answer to the form in which the gate handles replies.
func said(to *http.Request, a *http.Response, body []byte) stream.Said {
	return stream.Said{
		Ends: a.Close, Result: resultOf(to, a.StatusCode, strings.TrimSpace(string(body))),
		Words: func(n *stream.Names) string { return answered(a.StatusCode, body, n) },
	}
}

// resultOf returns the result that an answer reports.
func resultOf(to *http.Request, status int, body string) backend.Result {
	switch {
	case status == http.StatusNotFound:
		return backend.Absent
	case status >= http.StatusBadRequest:
		return backend.Wrong
	case body == "false" && to != nil && to.URL.Query().Has("release"):
		return backend.Absent
	case body == "false":
		return backend.Refused
	}
	return backend.Done
}

// answered returns the text of an answer for traces: a word, the holders of the keys that were read, or the created
// session.
func answered(status int, body []byte, n *stream.Names) string {
	if status != http.StatusOK {
		return http.StatusText(status)
	}
	var made struct{ ID string }
	if json.Unmarshal(body, &made) == nil && made.ID != "" {
		return n.Value(made.ID)
	}
	var keys []struct{ Key, Session, ID string }
	if json.Unmarshal(body, &keys) != nil {
		return strings.TrimSpace(string(body[:min(len(body), mostWord)]))
	}
	var words []string
	for _, k := range keys {
		switch {
		case k.ID != "":
			words = append(words, n.Value(k.ID))
		case k.Session != "":
			words = append(words, n.Item(k.Key)+" held by "+n.Value(k.Session))
		default:
			words = append(words, n.Item(k.Key)+" free")
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// mostWord is the maximum number of bytes shown of an answer that is a single word.
const mostWord = 40
