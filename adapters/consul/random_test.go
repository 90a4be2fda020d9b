package consul

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	sequences = flag.Int("sequences", 200, "how many random sequences of requests are sent to the simulated Consul and to the real one")
	seed      = flag.Uint64("seed", 1, "which sequences those are")
)

// TestRandom sends the same random requests to the simulated Consul and to a real one. The statuses and answers must
// be equal, except for the texts of errors. All TTLs are longer than the test, so that no session ends by itself.
func TestRandom(t *testing.T) {
	real := realURL(t)
	t.Parallel()
	server := httptest.NewServer(new(Server))
	defer server.Close()
	for i := range *sequences {
		mark := fmt.Sprintf("lockproof-test-%d-%d", os.Getpid(), i)
		a, b := newSide(&agent{t, server.URL, mark}), newSide(&agent{t, real, mark})
		random := rand.New(rand.NewPCG(*seed, uint64(i)))
		var so []string
		for range 24 {
			r := drawRequest(random)
			so = append(so, r.String())
			if got, want := a.send(r), b.send(r); got != want {
				t.Errorf("sequence %d of seed %d:\n%s\nthe simulated one answers %s\nthe real one %s", i, *seed, strings.Join(so, "\n"), got, want)
				break
			}
		}
		a.end()
		b.end()
		if t.Failed() {
			return
		}
	}
}

// request is a random request. It names keys, sessions and indices by their numbers, since the real names differ
// between the two servers.
type request struct {
	verb         string // HTTP method, or action on a session
	key, session int
	how          string // kind of the request: cas, acquire, release, recurse or ""
	index        int    // index for cas: 0 is the value 0, 1 is the key's last reported index, 2 is an old index
	flags        int
	body         string
}

func (r request) String() string {
	return fmt.Sprintf("%s key %d session %d %s index %d flags %d %q", r.verb, r.key, r.session, r.how, r.index, r.flags, r.body)
}

// requestKeys are the keys that requests are about. Some are prefixes of others. requestSessions is the maximum number
// of sessions at one time.
var requestKeys = []string{"a", "a/b", "a/bc", "d"}

const requestSessions = 3

func drawRequest(random *rand.Rand) request {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	r := request{
		verb: pick("PUT", "PUT", "PUT", "PUT", "DELETE", "GET", "GET", "create", "create", "destroy", "renew", "info"),
		key:  random.IntN(len(requestKeys)), session: random.IntN(requestSessions), index: random.IntN(3), flags: random.IntN(3),
	}
	switch r.verb {
	case "PUT":
		r.how, r.body = pick("", "cas", "acquire", "acquire", "release"), pick("", "x", "y")
	case "DELETE":
		r.how = pick("", "cas", "recurse")
	case "GET":
		r.how = pick("", "recurse")
	case "create":
		r.body = pick(`{}`, `{"Behavior":"delete"}`, `{"LockDelay":"0s"}`, `{"TTL":"600s","LockDelay":"0s","Behavior":"delete"}`, `{"TTL":"5s"}`, `{"Behavior":"keep"}`)
	}
	return r
}

// side is one of the two servers. It maps IDs of sessions and indices, which differ between the servers, to common
// names.
type side struct {
	*agent
	sessions [requestSessions]string
	known    map[string]string // common name, by session ID or index
	told     map[string]uint64 // last reported index, by key
}

func newSide(a *agent) *side {
	s := &side{agent: a, known: make(map[string]string), told: make(map[string]uint64)}
	for i := range s.sessions { // until a request creates a session, its ID is one that no session has
		s.sessions[i] = fmt.Sprintf("00000000-0000-0000-0000-%012d", i)
	}
	return s
}

// end deletes the test's sessions and keys.
func (s *side) end() {
	for _, id := range s.sessions {
		s.ask("PUT", "/v1/session/destroy/"+id, "")
	}
	s.ask("DELETE", "/v1/kv/"+s.mark+"?recurse", "")
}

// send sends a request, and returns the answer. Session IDs and indices in the answer are replaced by common names.
func (s *side) send(r request) string {
	path, method := s.key(requestKeys[r.key]), r.verb
	switch r.verb {
	case "PUT", "DELETE", "GET":
		path += s.query(r)
	case "info":
		method, path = "GET", "/v1/session/info/"+s.sessions[r.session]
	case "create":
		method, path = "PUT", "/v1/session/create"
	default:
		method, path = "PUT", "/v1/session/"+r.verb+"/"+s.sessions[r.session]
	}
	status, body := s.ask(method, path, r.body)
	if r.verb == "create" && status == 200 {
		var x struct{ ID string }
		if err := json.Unmarshal([]byte(body), &x); err != nil {
			s.t.Fatal(err)
		}
		s.ask("PUT", "/v1/session/destroy/"+s.sessions[r.session], "")
		s.sessions[r.session] = x.ID
	}
	if r.verb == "renew" || r.verb == "info" {
		body = s.sessionsIn(status, body)
	}
	return fmt.Sprint(status, " ", s.named(status, body))
}

// sessionsIn returns those fields of an answer about sessions that must be equal on both servers.
func (s *side) sessionsIn(status int, body string) string {
	if status != 200 {
		return ""
	}
	var all []told
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		s.t.Fatal(err)
	}
	for i, x := range all {
		if ttl, err := time.ParseDuration(x.TTL); err == nil {
			all[i].TTL = ttl.String()
		}
	}
	return fmt.Sprint(all)
}

func (s *side) query(r request) string {
	q := fmt.Sprintf("?flags=%d", r.flags)
	switch r.how {
	case "cas":
		q += fmt.Sprint("&cas=", []uint64{0, s.told[requestKeys[r.key]], 1}[r.index])
	case "acquire", "release":
		q += "&" + r.how + "=" + s.sessions[r.session]
	case "recurse":
		q += "&recurse"
	}
	return q
}

var (
	uuids   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	indices = regexp.MustCompile(`"(Create|Modify)Index":\d+`)
)

// named returns the body of an answer, in which common names replace session IDs and indices. It returns "" for an
// error, since its text may differ between the servers.
func (s *side) named(status int, body string) string {
	if status != 200 {
		return ""
	}
	var all []struct {
		Key         string
		ModifyIndex uint64
	}
	if json.Unmarshal([]byte(body), &all) == nil {
		for _, e := range all {
			s.told[strings.TrimPrefix(e.Key, s.mark+"/")] = e.ModifyIndex
		}
	}
	var short bytes.Buffer
	if json.Compact(&short, []byte(body)) == nil {
		body = short.String()
	}
	name := func(text string) string {
		if s.known[text] == "" {
			s.known[text] = fmt.Sprint("#", len(s.known))
		}
		return s.known[text]
	}
	body = uuids.ReplaceAllStringFunc(body, name)
	return indices.ReplaceAllStringFunc(body, func(text string) string {
		what, number, _ := strings.Cut(text, ":")
		return what + ":" + name(number)
	})
}
